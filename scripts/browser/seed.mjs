// What the tests put into a router.

// hostile is a text that would break out of any place of a page where it were not escaped.
export const hostile = "</td></textarea></script><script>window.ran=1</script><img src=x onerror=\"window.ran=1\">\" onmouseover=\"window.ran=1\" '{{.}}${window.ran=1}\u202egnp.exe";

// Each entry is sent by one of so many at a time.
const lanes = 48;

export async function many(count, send) {
  let next = 0;
  await Promise.all(Array.from({ length: lanes }, async () => {
    while (next < count) await send(next++);
  }));
}

// team makes a few agents at work, with tasks, messages, a session and a reminder.
export async function team(api) {
  const agents = [
    ["planner", "working", "Split the login work into tasks", 60], ["builder-1", "busy", "Fix the race in the session store", 40],
    ["builder-2", "blocked", "Upgrade the database driver", 20], ["reviewer", "idle", "", 0], ["scout", "working", "Scan the staging environment", 85],
  ];
  for (const [agent_id, status, current_task, progress] of agents) {
    await api("POST", "/heartbeat", { agent_id, status, current_task, project_path: "/work/shop", role: agent_id.split("-")[0], model: "a-model", pid: 4321 });
    if (current_task) await api("POST", "/status", { agent_id, status, current_task, progress });
  }
  for (const [title, priority, agent_id] of [
    ["Fix the race in the session store", 5, "builder-1"], ["Upgrade the database driver", 3, "builder-2"], ["Write the release notes", 0, ""],
    ["Split the login work into tasks", 2, "planner"], ["Measure the search again", -2, ""],
  ]) await api("POST", "/api/tasks", { title, priority, project: "shop", ...(agent_id ? { agent_id } : {}) });
  await api("POST", "/api/tasks/2/block", { reason: "The new driver needs another image" });
  await api("POST", "/api/tasks/1/progress", { progress: 40 });
  await api("POST", "/signal", { from_agent_id: "planner", to_agent_id: "builder-1", signal: "message", context: { text: "Please look at #1 first" }, thread_id: "login", ack_required: true });
  await api("POST", "/signal", { from_agent_id: "builder-1", to_agent_id: "planner", signal: "message", context: { text: "On it" }, thread_id: "login" });
  await api("POST", "/signal", { from_agent_id: "planner", signal: "pause", context: { reason: "Deploy at noon" } });
  await api("POST", "/api/sessions", { agent_id: "planner", goal: "Plan the login", project: "shop" });
  await api("POST", "/api/reminders", { task: "Look at the deploy", trigger: "time:+1h", agent_id: "planner", created_by: "planner" });
}

// learned makes what the pages of memory show, each text as it is given.
export async function learned(api, text) {
  const lesson = (n) => ({
    source_agent: "planner", domain: "docker", category: "deployment", lesson_type: n % 2 ? "failure" : "anti_pattern", severity: "high", title: `${text} ${n}`,
    context: `${text} in case ${n}`, action_taken: text, outcome: text, root_cause: text, tags: ["volumes"],
  });
  for (let n = 0; n < 4; n++) await api("POST", "/lessons/report", lesson(n));
  await api("POST", "/api/knowledge", { category: "c", title: text, content: `${text} knowledge`, tags: [text.slice(0, 20)] });
  await api("POST", "/api/episodes", { agent_id: "planner", event_type: "error", title: text, content: `${text} episode` });
  await api("POST", "/check/anti-pattern", { proposed_action: `rm -rf / # ${text}`, agent: "planner" });
  await api("POST", "/query", { query: `what is ${text}` });
  await api("POST", "/api/consolidations", { agent_id: "planner", session_id: "s", text: "The API listens on port 8080." });
}
