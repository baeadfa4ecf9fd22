#!/usr/bin/env node
import { runCommand } from "./command.ts";
import { commandProcess } from "./node-env.ts";

process.exitCode = await runCommand(commandProcess());
