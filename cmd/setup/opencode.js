// OWNMARK; "skillrouter setup opencode --remove" takes it away.
// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process"

const program = PROGRAM
const more = ARGS
const prompts = PROMPTS // what belongs to each prompt is told too
const strict = STRICT // no tool is used that the guard cannot be asked about

// hook tells the router of an event and resolves to its answer, to null if it says nothing, or
// to undefined if it cannot be run.
function hook(event, message, ...flags) {
  return new Promise((resolve) => {
    let out = ""
    const child = spawn(program, ["hook", event, "--for", "opencode", ...more, ...flags], { stdio: ["pipe", "pipe", "ignore"] })
    const limit = setTimeout(() => child.kill(), 5000)
    const end = (code) => {
      clearTimeout(limit)
      if (code !== 0) return resolve(undefined)
      try {
        resolve(JSON.parse(out).hookSpecificOutput ?? null)
      } catch {
        resolve(null)
      }
    }
    child.on("error", end)
    child.on("close", end)
    child.stdout.on("data", (text) => (out += text))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(message))
  })
}

// What only looks is not asked about, and neither are the router's own tools.
const asked = (tool) => !/^(read|glob|grep|list|lsp|todo(read|write)|question|skill)$/.test(tool) && !tool.startsWith("skillrouter_")

// opencode asks a model for titles and summaries too, in the same session.
const aside = /^(You are a title generator|You are a context summarization|Summarize what was done)/

const maxFitting = 8 // prompts whose memory stays before the model
const maxSessions = 8 // whose ends are told at once
const maxText = 8192 // of a tool's answer, in characters of its end
const mendTools = 6 // how many uses after a failed one are told of: what mends it is among them
const maxTranscript = 768 << 10 // in bytes; a hook reads 1 MiB

// exitOf is the exit code of a command, and 0 for any other tool.
const exitOf = (metadata) => metadata?.exit ?? metadata?.exitCode ?? 0

// refused tells whether opencode says that a person did not want a tool's use, or stopped it.
const refused = (error) => /^The user (rejected|dismissed)|^Tool execution aborted|interrupt/i.test(error)

// tell adds a text to what a tool answers; one of an MCP server answers in parts.
function tell(output, text) {
  if (Array.isArray(output.content)) output.content.push({ type: "text", text })
  else output.output = (output.output ?? "") + "\n\n" + text
}

// typed is what a person typed: `opencode run` puts words with a space between them into quotes.
const typed = (text) => (/^"(?:[^"\\]|\\[^])*"$/.test(text) ? text.slice(1, -1).replaceAll('\\"', '"') : text)

// said is what was said and done in a session, as messages. What tools answered is the user's, as
// models have it.
async function said(client, id) {
  const { data } = await client.session.messages({ path: { id } })
  const messages = []
  let [size, partial] = [0, false]
  for (const { info, parts } of (data ?? []).reverse()) {
    const content = []
    const results = []
    for (const part of parts) {
      if (part.type === "text" && !part.synthetic) content.push({ type: "text", text: info.role === "user" ? typed(part.text) : part.text })
      if (part.type !== "tool") continue
      const { status, input, output, error, metadata } = part.state
      const code = exitOf(metadata)
      const answer = (code !== 0 ? `Exit code ${code}\n` : "") + String(output ?? error ?? "").slice(-maxText)
      content.push({ type: "tool_use", id: part.callID, name: part.tool, input })
      results.push({ type: "tool_result", tool_use_id: part.callID, content: answer, is_error: status === "error" || code !== 0 })
    }
    const both = [{ role: info.role, content }, { role: "user", content: results }].filter((message) => message.content.length > 0)
    size += both.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)) + 1, 0)
    if ((partial = size > maxTranscript)) break
    messages.unshift(...both)
  }
  return { transcript: messages, transcript_partial: partial }
}

export const SkillRouter = async ({ client, directory }) => {
  const notes = new Map() // what was warned of, until the tool has been used
  const known = new Map() // what each session begins with
  const fitting = new Map() // what belongs to each session's last prompts, and to what failed without an answer
  const children = new Set() // sessions of subagents: their end is not the agent's
  const failing = new Map() // how many uses of tools are still told of, of sessions in which one failed
  const over = new Set() // uses that no failure is told of: refused here, or told of already
  let idle = Promise.resolve() // that a turn has ended is told before that the session has
  const begin = (session, task) => {
    if (!known.get(session)) {
      const start = { session_id: session, cwd: directory }
      known.set(session, children.has(session) ? hook("subagent-start", { ...start, prompt: task }) : hook("session-start", start, "--start"))
    }
    return known.get(session)
  }
  const fit = (session, said) => {
    fitting.set(session, [...(fitting.get(session) ?? []), said].slice(-maxFitting))
    // What has nothing to tell takes no other's place.
    said.then((answer) => answer?.additionalContext || fitting.set(session, fitting.get(session).filter((one) => one !== said)))
  }
  const transcript = async (session) => {
    const whole = await said(client, session).catch(() => undefined)
    return { session_id: session, cwd: directory, ...(whole?.transcript.length > 0 && whole) }
  }
  const use = (input, args) => ({
    session_id: input.sessionID, tool_use_id: input.callID, tool_name: input.tool, tool_input: args, cwd: directory,
  })
  // used tells of a tool's use: of one that was warned of, that failed, or that may mend one that did.
  const used = async (input, args, answer, failed, warned) => {
    const session = input.sessionID
    const left = failed ? mendTools : (failing.get(session) ?? 0) - 1
    if (left < 0 && !warned) return
    if (left > 0) failing.set(session, left)
    else failing.delete(session)
    return (await hook("post-tool-use", { ...use(input, args), ...answer }))?.additionalContext
  }
  return {
    event: async ({ event }) => {
      const { sessionID, info, part } = event.properties ?? {}
      // opencode runs no hook after a tool that threw.
      if (event.type === "message.part.updated" && part?.type === "tool" && part.state.status === "error" && asked(part.tool) && !over.has(part.callID)) {
        const error = String(part.state.error ?? "")
        over.add(part.callID)
        notes.delete(part.callID)
        if (refused(error)) return
        const said = used(part, part.state.input ?? {}, { tool_output: { error: error.slice(-maxText) } }, true)
        fit(part.sessionID, said.then((text) => text && { additionalContext: text }))
      }
      if (event.type === "session.created" && info?.parentID) children.add(info.id)
      if (event.type === "session.idle" && known.has(sessionID) && !children.has(sessionID)) {
        idle = hook("turn-end", { session_id: sessionID, cwd: directory })
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session || aside.test(output.system[0] ?? "")) return
      const said = await begin(session)
      if (said?.additionalContext) output.system.push(said.additionalContext)
      // It is told once, and the system prompt is made anew for each request.
      for (const fits of fitting.get(session) ?? []) {
        const said = await fits
        if (said?.additionalContext) output.system.push(said.additionalContext)
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => typed(part.text)).join("\n")
      if (!session || !prompt) return
      if (children.has(session)) return void (await begin(session, prompt))
      if (!prompts) return
      await begin(session) // a session's first prompt may come before its start
      fit(session, hook("user-prompt", { session_id: session, cwd: directory, prompt }))
    },
    // What was decided and left open is told to the model that sums up, and with the rest again after that.
    "experimental.session.compacting": async (input, output) => {
      const kept = await hook("pre-compact", await transcript(input.sessionID))
      if (kept?.additionalContext) output.context.push(kept.additionalContext)
      known.set(input.sessionID, null)
    },
    "tool.execute.before": async (input, output) => {
      if (!asked(input.tool)) return
      const said = await hook("pre-tool-use", use(input, output.args), ...(strict ? ["--strict"] : []))
      const refuse = (reason) => {
        over.add(input.callID)
        throw new Error(reason)
      }
      if (strict && said === undefined) refuse("Skill Router's hook cannot be run, and this project is set up to use no tool then (setup --strict).")
      if (said?.permissionDecision === "deny") refuse(said.permissionDecisionReason)
      if (said?.additionalContext) notes.set(input.callID, { said: said.additionalContext, args: output.args })
    },
    "tool.execute.after": async (input, output) => {
      if (!asked(input.tool)) return
      const note = notes.get(input.callID)
      notes.delete(input.callID)
      const answer = output.output ?? (output.content ?? []).map((part) => part.text ?? "").join("\n")
      const code = exitOf(output.metadata)
      const known = await used(
        input,
        note?.args ?? input.args ?? {},
        { tool_output: { exit_code: code, is_error: output.isError === true, output: String(answer).slice(-maxText) } },
        code !== 0 || output.isError === true,
        note,
      )
      for (const text of [note?.said, known]) if (text) tell(output, text)
    },
    dispose: async () => {
      await idle
      const ended = [...known.keys()].filter((id) => !children.has(id)).slice(-maxSessions)
      await Promise.all(ended.map(async (id) => hook("session-end", await transcript(id))))
    },
  }
}
