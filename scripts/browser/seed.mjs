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

// full puts so many of each thing into a router as one that has been used for years has, and tells how long each took.
export async function full(api, entries, tell = () => {}) {
  const agents = Math.min(entries, 2000), some = Math.ceil(entries / 10);
  const fill = async (name, work) => {
    const begin = Date.now();
    await work();
    tell(`${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  };
  // take imports records, as many to a request as one takes.
  const take = (kind, count, record) => fill(`${count} ${kind}`, async () => {
    const batch = 1000;
    for (let from = 0; from < count; from += batch) {
      const records = [];
      for (let n = from; n < Math.min(from + batch, count); n++) records.push({ kind, ...record(n), created_at: past(count - n) });
      const { stored, results } = await api("POST", "/api/import", { records });
      if (stored !== records.length) throw new Error(`${kind}: ${stored} of ${records.length} stored, for one ${JSON.stringify(results.find((r) => r.status !== "stored"))}`);
    }
  });
  const start = Date.now();
  const past = (minutes) => new Date(start - minutes * 60000).toISOString();
  const id = (kind, n) => `${kind}-${n}`;
  await fill(`${agents} agents`, () => many(agents, (n) => api("POST", "/heartbeat", { agent_id: "agent-" + n, status: "working", current_task: "Task " + n })));
  await fill(`${entries} tasks`, () => many(entries, (n) => api("POST", "/api/tasks", { title: "Task number " + n, priority: n % 20 - 10, project: "p" + n % 50 })));
  await fill(`${entries} messages`, () => many(entries, (n) => api("POST", "/signal", {
    from_agent_id: "agent-" + n % agents, to_agent_id: "agent-" + (n * 7) % agents, signal: "message", context: { text: "Message " + n }, thread_id: "t" + n % 1000, ack_required: n % 10 === 0,
  })));
  await take("knowledge", entries, (n) => ({ id: id("knowledge", n), category: "c" + n % 30, title: "Entry " + n, content: `What is known of the matter ${n}, and of ${n % 977}`, agent_id: "agent-" + n % agents }));
  await take("episode", entries, (n) => ({ id: id("episode", n), agent_id: "agent-" + n % agents, event_type: ["action", "error", "decision"][n % 3], title: "Event " + n, content: `The matter ${n % 977} came up again` }));
  await take("lesson", entries, (n) => ({
    id: id("lesson", n), source_agent: "agent-" + n % agents, domain: ["docker", "git", "python", "api"][n % 4], category: "deployment", lesson_type: n % 20 ? ["failure", "success"][n % 2] : "anti_pattern",
    severity: ["low", "medium", "high"][n % 3], title: `Lesson ${n} of the matter ${n % 977}`, context: "in the case " + n, action_taken: "step " + n, outcome: "it broke " + n, tags: ["t" + n % 40],
    status: n % 5 ? "candidate" : "validated",
  }));
  await take("fact", entries, (n) => ({ persona: "default", key: "project.key_" + n, value: "value " + n }));
  await take("reminder", some, (n) => ({ id: n + 1000, persona: "default", task: "Look at the matter " + n, trigger_type: "event", trigger_value: "task.completed", status: "pending", agent_id: "agent-" + n % agents }));
  await fill(`${some} checks of the guard`, () => many(some, (n) => api("POST", "/check/anti-pattern", { proposed_action: "step " + n * 20 % entries, agent: "agent-" + n % agents })));
  await fill(`${some} questions without an answer`, () => many(some, (n) => api("POST", "/lessons/search", { context: `zyx${n} qwv${n * 7}`, agent: "agent-" + n % agents })));
}
