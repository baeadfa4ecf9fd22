/** Three bytes as base64. */
export const data = "AAEC";
/** An entry of tool_calls with these arguments. */
export const call = (args: string, more: object = {}) => ({
  id: "c1",
  type: "function",
  function: { name: "look", arguments: args },
  ...more,
});
/** A message of the assistant without content. */
export const assistant = (more: object) => ({ role: "assistant", content: null, ...more });

/** Messages of every shape that is known to occur, and of some that are not. */
export const shapes: readonly [what: string, message: object][] = [
  ["text", { role: "user", content: "hi" }],
  ["empty text", { role: "user", content: "" }],
  ["a developer's text", { role: "developer", content: "be brief" }],
  ["a system text with a name", { role: "system", content: "x", name: "policy" }],
  ["text as one part", { role: "user", content: [{ type: "text", text: "hi" }] }],
  [
    "text as several parts",
    {
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "" },
      ],
    },
  ],
  ["no parts", { role: "user", content: [] }],
  ["null", { role: "assistant", content: null }],
  ["no content at all", { role: "assistant" }],
  [
    "a part with a field of its own",
    { role: "user", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] },
  ],
  [
    "a picture as a data URL",
    {
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
      ],
    },
  ],
  [
    "a picture with its detail",
    {
      role: "user",
      content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}`, detail: "high" } }],
    },
  ],
  [
    "a picture at an address",
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: "https://example.org/a.png" } },
        { type: "text", text: "that" },
      ],
    },
  ],
  [
    "a picture in odd base64",
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA E=" } }] },
  ],
  [
    "a picture as a bare data URL",
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:,hello" } }] },
  ],
  [
    "a picture with a parameter in its type",
    {
      role: "user",
      content: [{ type: "image_url", image_url: { url: `data:image/svg+xml;charset=utf8;base64,${data}` } }],
    },
  ],
  [
    "a picture whose address is bare text",
    { role: "user", content: [{ type: "image_url", image_url: "https://example.org/a.png" }] },
  ],
  [
    "sound",
    {
      role: "user",
      content: [
        { type: "input_audio", input_audio: { data, format: "wav" } },
        { type: "input_audio", input_audio: { data, format: "mp3" } },
      ],
    },
  ],
  [
    "sound of another format",
    { role: "user", content: [{ type: "input_audio", input_audio: { data, format: "flac" } }] },
  ],
  [
    "a file",
    {
      role: "user",
      content: [
        { type: "file", file: { file_data: `data:application/pdf;base64,${data}`, filename: "a.pdf" } },
      ],
    },
  ],
  [
    "a file of sound",
    {
      role: "user",
      content: [{ type: "file", file: { file_data: `data:audio/wav;base64,${data}`, filename: "a.wav" } }],
    },
  ],
  ["a file by its id", { role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }],
  [
    "a part of an unknown kind",
    {
      role: "user",
      content: [
        "bare",
        { type: "video", url: "x" },
        null,
        5,
        [1],
        { type: "text" },
        { type: "text", text: "a" },
      ],
    },
  ],
  [
    "a part that looks like a block of ours",
    {
      role: "user",
      content: [
        { type: "document", source: 1 },
        { type: "image", data: "x" },
      ],
    },
  ],
  ["a refusal", { role: "assistant", content: null, refusal: "I will not" }],
  ["a refusal beside text", { role: "assistant", content: "sorry", refusal: "I will not" }],
  [
    "a refusal that is null",
    { role: "assistant", content: "sure", refusal: null, annotations: [], audio: null, function_call: null },
  ],
  [
    "a refusal part",
    {
      role: "assistant",
      content: [
        { type: "text", text: "no" },
        { type: "refusal", refusal: "I will not" },
      ],
    },
  ],
  [
    "sound that the model made",
    assistant({ audio: { id: "audio_1", expires_at: 1, data, transcript: "hi" } }),
  ],
  ["a call", assistant({ tool_calls: [call('{"a":1}')] })],
  ["a call beside text", assistant({ content: "I look", tool_calls: [call("{}")] })],
  ["a call beside empty text", assistant({ content: "", tool_calls: [call("{}")] })],
  ["a call without content", { role: "assistant", tool_calls: [call("{}")] }],
  ["a call beside parts", assistant({ content: [{ type: "text", text: "a" }], tool_calls: [call("{}")] })],
  ["arguments with spaces", assistant({ tool_calls: [call('{ "a" : 1,\n "b": [ ] }')] })],
  ["arguments that are no JSON", assistant({ tool_calls: [call('{"a": 1')] })],
  ["arguments that are empty", assistant({ tool_calls: [call("")] })],
  ["arguments that are a list", assistant({ tool_calls: [call("[1]")] })],
  ["arguments that are null", assistant({ tool_calls: [call("null")] })],
  ["arguments with a key twice", assistant({ tool_calls: [call('{"a":1,"a":2}')] })],
  [
    "arguments with great numbers",
    assistant({ tool_calls: [call('{"a":12345678901234567890,"b":1e400,"c":-0,"d":1.0}')] }),
  ],
  ["arguments with __proto__", assistant({ tool_calls: [call('{"__proto__":{"a":1}}')] })],
  ["arguments with half a surrogate pair", assistant({ tool_calls: [call('{"a":"\ud83d"}')] })],
  [
    "arguments ten thousand levels deep",
    assistant({ tool_calls: [call(`{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)] }),
  ],
  [
    "arguments that are an object already",
    assistant({ tool_calls: [{ id: "c", type: "function", function: { name: "n", arguments: { a: 1 } } }] }),
  ],
  [
    "a call with fields of its own",
    assistant({
      tool_calls: [call("{}", { index: 0, function: { name: "look", arguments: "{}", strict: true } })],
    }),
  ],
  [
    "a call without an id",
    assistant({ tool_calls: [{ type: "function", function: { name: "n", arguments: "{}" } }, call("{}")] }),
  ],
  [
    "a call with an empty id or name",
    assistant({
      tool_calls: [call("{}", { id: "" }), call("{}", { function: { name: "", arguments: "" } })],
    }),
  ],
  [
    "a call of a custom tool",
    assistant({ tool_calls: [{ id: "c", type: "custom", custom: { name: "sql", input: "select 1" } }] }),
  ],
  ["calls that are none", assistant({ tool_calls: ["x", null, 5, {}] })],
  ["an empty list of calls", assistant({ content: "hi", tool_calls: [] })],
  ["calls that are null", assistant({ content: "hi", tool_calls: null })],
  ["calls that are text", assistant({ content: "hi", tool_calls: "none" })],
  ["a legacy call", assistant({ function_call: { name: "look", arguments: '{ "a":1 }' } })],
  [
    "a legacy call with text",
    assistant({ content: "hm", function_call: { name: "look", arguments: "{}", more: 1 } }),
  ],
  [
    "a legacy call beside calls",
    assistant({ tool_calls: [call("{}")], function_call: { name: "look", arguments: "{}" } }),
  ],
  ["a legacy call that is none", assistant({ function_call: { name: "look" } })],
  ["a legacy result", { role: "function", name: "look", content: "found" }],
  ["a legacy result that is null", { role: "function", name: "look", content: null }],
  ["a legacy result without a name", { role: "function", content: "found" }],
  ["a result", { role: "tool", tool_call_id: "c1", content: "found" }],
  ["a result with a name", { role: "tool", tool_call_id: "c1", content: "found", name: "look" }],
  ["a result of JSON text", { role: "tool", tool_call_id: "c1", content: '{ "a": 1 }' }],
  [
    "a result in parts",
    {
      role: "tool",
      tool_call_id: "c1",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    },
  ],
  ["a result of one part", { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "a" }] }],
  [
    "a result with a picture",
    {
      role: "tool",
      tool_call_id: "c1",
      content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }],
    },
  ],
  ["a result of JSON", { role: "tool", tool_call_id: "c1", content: { a: [1] } }],
  ["a result of a number", { role: "tool", tool_call_id: "c1", content: 5 }],
  [
    "a result of a list of anything",
    {
      role: "tool",
      tool_call_id: "c1",
      content: ["x", 1, { type: "text" }, { type: "text", text: "a", x: 1 }, { a: 1 }],
    },
  ],
  ["a result that is null", { role: "tool", tool_call_id: "c1", content: null }],
  ["a result that is empty", { role: "tool", tool_call_id: "c1", content: [] }],
  ["a result without content", { role: "tool", tool_call_id: "c1" }],
  ["a result without an id", { role: "tool", content: "found" }],
  ["a result whose id is a number", { role: "tool", tool_call_id: 5, content: "found" }],
  ["reasoning in a field", assistant({ content: "so", reasoning_content: "because" })],
  [
    "reasoning in fields of every kind",
    assistant({
      reasoning: "a",
      reasoning_details: [{ type: "x", text: "b" }],
      thinking: { c: 1 },
      thinking_blocks: ["d"],
      reasoning_content: "",
    }),
  ],
  ["reasoning that is null", assistant({ content: "so", reasoning_content: null, reasoning: null })],
  [
    "reasoning in a part",
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "t", signature: "s" },
        { type: "text", text: "a", x: 1 },
        { type: "image_url", image_url: { url: "https://example.org" } },
      ],
    },
  ],
  ["content of a kind that there is not", { role: "user", content: 5 }],
  ["content that is an object", { role: "user", content: { type: "text", text: "hi" } }],
  ["hostile keys", JSON.parse('{"role":"user","content":"a","__proto__":{"role":"system"},"constructor":1}')],
  [
    "unknown fields",
    { role: "user", content: "a", id: "msg_1", metadata: { openai: 1 }, weight: 0, nested: { deep: [{}] } },
  ],
];
