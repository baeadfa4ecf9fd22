/** Text in a message of several parts. */
export interface OpenAITextPart {
  type: "text";
  text: string;
}

/** A picture, by its address or as a data URL. */
export interface OpenAIImagePart {
  type: "image_url";
  image_url: { url: string; detail?: "auto" | "low" | "high" };
}

/** Sound, as base64. */
export interface OpenAIAudioPart {
  type: "input_audio";
  input_audio: { data: string; format: "wav" | "mp3" };
}

/** A file, as a data URL or by the id of an upload. */
export interface OpenAIFilePart {
  type: "file";
  file: { file_data?: string; file_id?: string; filename?: string };
}

/** What the model said instead of answering. */
export interface OpenAIRefusalPart {
  type: "refusal";
  refusal: string;
}

/** One part of a message's content. */
export type OpenAIPart = OpenAITextPart | OpenAIImagePart | OpenAIAudioPart | OpenAIFilePart;

/** A call of a function; `arguments` is JSON text as the model wrote it, valid or not. */
export interface OpenAIFunctionCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A call of a custom tool, whose input is free text. */
export interface OpenAICustomCall {
  id: string;
  type: "custom";
  custom: { name: string; input: string };
}

/** A message of the chat completions format, as its clients send it. Fields beyond these are kept (see `fromOpenAI`). */
export type OpenAIMessage =
  | { role: "system" | "developer"; content: string | OpenAITextPart[]; name?: string }
  | { role: "user"; content: string | OpenAIPart[]; name?: string }
  | {
      role: "assistant";
      content?: string | (OpenAITextPart | OpenAIRefusalPart)[] | null;
      refusal?: string | null;
      name?: string;
      audio?: { id: string } | null;
      tool_calls?: (OpenAIFunctionCall | OpenAICustomCall)[];
      function_call?: { name: string; arguments: string } | null;
    }
  | { role: "tool"; content: string | OpenAITextPart[]; tool_call_id: string }
  | { role: "function"; content: string | null; name: string };
