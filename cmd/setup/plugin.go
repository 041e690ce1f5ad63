package setup

import "strings"

// pluginText is opencode's plugin, in which PROGRAM and ARGS are JSON. It speaks to
// opencode 1, runs a hook for each event and lets the agent go on whatever fails.
const pluginText = `// ` + ownMark + `; "skillrouter setup opencode --remove" takes it away.
import { spawn } from "node:child_process"

const program = PROGRAM
const more = ARGS

// hook tells the router of an event and resolves to its answer, or to null.
function hook(event, message) {
  return new Promise((resolve) => {
    let out = ""
    const child = spawn(program, ["hook", event, "--for", "opencode", ...more], { stdio: ["pipe", "pipe", "ignore"] })
    const limit = setTimeout(() => child.kill(), 5000)
    const end = () => {
      clearTimeout(limit)
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

export const SkillRouter = async ({ directory }) => {
  const notes = new Map() // what was warned of, until the tool has been used
  const known = new Map() // what each session begins with
  const use = (input, args) => ({
    session_id: input.sessionID, tool_use_id: input.callID, tool_name: input.tool, tool_input: args, cwd: directory,
  })
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID ?? ""
      if (!known.has(session)) known.set(session, hook("session-start", { session_id: session, cwd: directory }))
      const said = await known.get(session)
      if (said?.additionalContext) output.system.push(said.additionalContext)
    },
    "tool.execute.before": async (input, output) => {
      const said = await hook("pre-tool-use", use(input, output.args))
      if (said?.permissionDecision === "deny") throw new Error(said.permissionDecisionReason)
      if (said?.additionalContext) notes.set(input.callID, { said: said.additionalContext, args: output.args })
    },
    "tool.execute.after": async (input, output) => {
      const note = notes.get(input.callID)
      notes.delete(input.callID)
      if (note) output.output += "\n\n" + note.said
      const code = output.metadata?.exit ?? output.metadata?.exitCode ?? 0
      if (note || code !== 0) {
        await hook("post-tool-use", {
          ...use(input, note?.args ?? input.args ?? {}),
          tool_output: { exit_code: code, output: String(output.output ?? "").slice(-8192) },
        })
      }
    },
  }
}
`

func (c Content) plugin() string {
	more := []string{}
	if c.Name != "" {
		more = append(more, "--agent", c.Name)
	}
	if c.Server != "" {
		more = append(more, "--server", c.Server)
	}
	return strings.NewReplacer("PROGRAM", asJSON(c.Program), "ARGS", asJSON(more)).Replace(pluginText)
}
