import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { loadConfig } from "./demo-config.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/sign-in.css";
import "./style/sidebar.css";
import "./style/thread.css";
import "./style/message.css";
import "./style/composer.css";
import "./style/dialog.css";

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no #root");
const config = await loadConfig(location, localStorage);
createRoot(root).render(
  <StrictMode>
    <App config={config} />
  </StrictMode>,
);
