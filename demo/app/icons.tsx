import type { ReactNode } from "react";

interface IconProps {
  readonly className?: string;
}

function Icon({
  className = "icon",
  d,
  strokeWidth,
}: IconProps & { d: string; strokeWidth?: number }): ReactNode {
  return (
    <svg className={className} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={d} strokeWidth={strokeWidth} />
    </svg>
  );
}

export const PlusIcon = (props: IconProps): ReactNode => <Icon d="M12 5v14M5 12h14" {...props} />;
export const SearchIcon = (props: IconProps): ReactNode => (
  <Icon d="m20 20-4.5-4.5M11 18a7 7 0 1 1 0-14 7 7 0 0 1 0 14Z" {...props} />
);
export const MoreIcon = (props: IconProps): ReactNode => (
  <Icon d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth={3} {...props} />
);
export const BackIcon = (props: IconProps): ReactNode => <Icon d="m15 5-7 7 7 7" {...props} />;
export const SendIcon = (props: IconProps): ReactNode => (
  <Icon d="M12 19V5M5.5 11.5 12 5l6.5 6.5" {...props} />
);
export const StopIcon = (props: IconProps): ReactNode => <Icon d="M7 7h10v10H7Z" {...props} />;
export const DownIcon = (props: IconProps): ReactNode => (
  <Icon d="M12 5v14M5.5 12.5 12 19l6.5-6.5" {...props} />
);
export const CloseIcon = (props: IconProps): ReactNode => <Icon d="m6 6 12 12M18 6 6 18" {...props} />;
export const ClockIcon = (props: IconProps): ReactNode => (
  <Icon d="M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18Zm0-14v5l3 2" {...props} />
);
export const CheckIcon = (props: IconProps): ReactNode => <Icon d="m5 12.5 4.5 4.5L19 7.5" {...props} />;
export const AlertIcon = (props: IconProps): ReactNode => (
  <Icon d="M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18Zm0-14v6m0 3.5v.01" {...props} />
);
export const CloudOffIcon = (props: IconProps): ReactNode => (
  <Icon d="M3 3l18 18M8 7a6 6 0 0 1 10 3.5A4 4 0 0 1 20.5 16M16.5 18H7a4.5 4.5 0 0 1-1.5-8.700" {...props} />
);
export const ToolIcon = (props: IconProps): ReactNode => (
  <Icon
    d="M14.5 6.5a4.200 4.200 0 0 0-5.600 5.400L4 16.800 7.200 20l4.900-4.900a4.200 4.200 0 0 0 5.400-5.600L14.800 12 12 9.200z"
    {...props}
  />
);
export const ArchiveIcon = (props: IconProps): ReactNode => (
  <Icon d="M4 8h16M5 8v11h14V8M3.5 4.5h17V8h-17zM10 12h4" {...props} />
);
export const UploadIcon = (props: IconProps): ReactNode => (
  <Icon d="M12 16V4M7 8.5 12 4l5 4.5M4 16v4h16v-4" {...props} />
);
export const CopyIcon = (props: IconProps): ReactNode => <Icon d="M9 9h11v11H9zM15 9V4H4v11h5" {...props} />;

/** The mark of the project: the root that holds kelp to its rock. */
export function Mark({ className = "mark" }: IconProps): ReactNode {
  return (
    <svg className={className} viewBox="0 0 64 64" aria-hidden="true" focusable="false">
      <rect width="64" height="64" rx="15" className="mark-ground" />
      <g className="mark-lines">
        <path d="M32 10c6 7-5 11 0 19s-1 9 0 13" />
        <path d="M32 38c-2 8-12 7-17 15M32 38c2 8 12 7 17 15M32 38c-.5 7-3 9-5 15M32 38c.5 7 3 9 5 15" />
      </g>
    </svg>
  );
}
