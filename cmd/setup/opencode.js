// OWNMARK; "skillrouter setup opencode --remove" takes it away.
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
const maxTranscript = 768 << 10 // in bytes; a hook reads 1 MiB

// said is what was said and done in a session, as messages.
async function said(client, id) {
  const { data } = await client.session.messages({ path: { id } })
  const messages = []
  let size = 0
  for (const { info, parts } of (data ?? []).reverse()) {
    const content = parts.flatMap((part) => {
      if (part.type === "text" && !part.synthetic) return [{ type: "text", text: part.text }]
      if (part.type !== "tool") return []
      const answer = String(part.state.output ?? part.state.error ?? "").slice(-maxText)
      return [
        { type: "tool_use", name: part.tool, input: part.state.input },
        { type: "tool_result", content: answer, is_error: part.state.status === "error" },
      ]
    })
    if (content.length === 0) continue
    const message = { role: info.role, content }
    size += Buffer.byteLength(JSON.stringify(message)) + 1
    if (size > maxTranscript) break
    messages.unshift(message)
  }
  return messages
}

export const SkillRouter = async ({ client, directory }) => {
  const notes = new Map() // what was warned of, until the tool has been used
  const known = new Map() // what each session begins with
  const fitting = new Map() // what belongs to each session's last prompts
  const children = new Set() // sessions of subagents: their end is not the agent's
  let idle = Promise.resolve() // that a turn has ended is told before that the session has
  const begin = (session, task) => {
    if (!known.get(session)) {
      const start = { session_id: session, cwd: directory }
      known.set(session, children.has(session) ? hook("subagent-start", { ...start, prompt: task }) : hook("session-start", start, "--start"))
    }
    return known.get(session)
  }
  const transcript = async (session) => {
    const messages = await said(client, session).catch(() => [])
    return { session_id: session, cwd: directory, ...(messages.length > 0 && { transcript: messages }) }
  }
  const use = (input, args) => ({
    session_id: input.sessionID, tool_use_id: input.callID, tool_name: input.tool, tool_input: args, cwd: directory,
  })
  return {
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
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
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      if (!session || !prompt) return
      if (children.has(session)) return void (await begin(session, prompt))
      if (!prompts) return
      await begin(session) // a session's first prompt may come before its start
      const fits = hook("user-prompt", { session_id: session, cwd: directory, prompt })
      fitting.set(session, [...(fitting.get(session) ?? []), fits].slice(-maxFitting))
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
      if (strict && said === undefined) throw new Error("Skill Router's hook cannot be run, and this project is set up to use no tool then (setup --strict).")
      if (said?.permissionDecision === "deny") throw new Error(said.permissionDecisionReason)
      if (said?.additionalContext) notes.set(input.callID, { said: said.additionalContext, args: output.args })
    },
    "tool.execute.after": async (input, output) => {
      if (!asked(input.tool)) return
      const note = notes.get(input.callID)
      notes.delete(input.callID)
      const answer = String(output.output ?? "").slice(-maxText)
      if (note) output.output += "\n\n" + note.said
      const code = output.metadata?.exit ?? output.metadata?.exitCode ?? 0
      if (note || code !== 0) {
        await hook("post-tool-use", {
          ...use(input, note?.args ?? input.args ?? {}),
          tool_output: { exit_code: code, output: answer },
        })
      }
    },
    dispose: async () => {
      await idle
      const ended = [...known.keys()].filter((id) => !children.has(id)).slice(-maxSessions)
      await Promise.all(ended.map(async (id) => hook("session-end", await transcript(id))))
    },
  }
}
