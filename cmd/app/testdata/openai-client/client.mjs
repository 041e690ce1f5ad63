// Does with OpenAI's own client what its users do, and prints what came of it.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "ollama", maxRetries: 0 });
const messages = [{ role: "user", content: "PATCH or PUT for a partial update?" }];
const tools = [{ type: "function", function: { name: "read_file", parameters: { type: "object", properties: { path: { type: "string" } } } } }];
const results = {};

async function attempt(name, run) {
  try {
    results[name] = await run();
  } catch (error) {
    results[name] = { error: error.constructor.name, status: error.status ?? null, message: error.message };
  }
}

async function collect(stream) {
  let content = "", calls = [], finish = null, usage = null;
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    if (chunk.usage) usage = chunk.usage.total_tokens;
    if (!choice) continue;
    content += choice.delta.content ?? "";
    for (const call of choice.delta.tool_calls ?? []) {
      calls[call.index] ??= { name: "", arguments: "" };
      calls[call.index].name += call.function.name ?? "";
      calls[call.index].arguments += call.function.arguments ?? "";
    }
    finish = choice.finish_reason ?? finish;
  }
  return { content, calls, finish, usage };
}

await attempt("plain", async () => {
  const { data, response } = await client.chat.completions.create({ model: "plain", messages, seed: 7 }).withResponse();
  return { content: data.choices[0].message.content, memory: response.headers.get("x-skillrouter-memory"), unknown: data.x_unknown };
});
await attempt("memory off", async () => {
  const { response } = await client.chat.completions.create({ model: "plain", messages }, { headers: { "X-Skillrouter-Memory": "off" } }).withResponse();
  return { memory: response.headers.get("x-skillrouter-memory") };
});
await attempt("stream", async () => collect(await client.chat.completions.create({ model: "stream", messages, stream: true, stream_options: { include_usage: true } })));
await attempt("tools", async () => {
  const data = await client.chat.completions.create({ model: "tools", messages, tools });
  return data.choices[0].message.tool_calls[0].function;
});
await attempt("stream of tools", async () => collect(await client.chat.completions.create({ model: "stream-tools", messages, tools, stream: true })));
for (const status of [400, 429, 500]) {
  await attempt(`error ${status}`, () => client.chat.completions.create({ model: `error-${status}`, messages }));
}
await attempt("prose", async () => {
  const data = await client.chat.completions.create({ model: "prose", messages });
  return { type: typeof data };
});
await attempt("drop", async () => collect(await client.chat.completions.create({ model: "drop", messages, stream: true })));
await attempt("hang", () => client.chat.completions.create({ model: "hang", messages }));
await attempt("abort", async () => {
  const stream = await client.chat.completions.create({ model: "endless", messages, stream: true });
  for await (const chunk of stream) {
    stream.controller.abort();
    return { content: chunk.choices[0].delta.content };
  }
});
await attempt("models", async () => (await client.models.list()).data.map((model) => model.id));
await attempt("model", async () => (await client.models.retrieve("hf.co/Qwen/Qwen3:Q4")).id);
await attempt("embeddings", async () => (await client.embeddings.create({ model: "nomic", input: ["a"], encoding_format: "float" })).data[0].embedding);
await attempt("no such path", () => client.audio.speech.create({ model: "m", input: "a", voice: "alloy" }));
console.log(JSON.stringify(results));
