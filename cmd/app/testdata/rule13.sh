curl -s http://localhost:8025/query/relevant \
  -H "Content-Type: application/json" \
  -d '{"context": "YOUR_TASK_DESCRIPTION", "domain": "infrastructure"}' | jq .

curl -s http://localhost:8025/check/anti-pattern \
  -H "Content-Type: application/json" \
  -d '{"proposed_action": "YOUR_COMMAND", "context": "WHY", "domain": "docker", "agent": "CLAUDE_CODE"}' | jq .

# Report a failure
curl -X POST http://localhost:8025/lessons/report \
  -H "Content-Type: application/json" \
  -d '{
    "lesson_type": "failure",
    "domain": "docker",
    "category": "containers",
    "title": "Brief description",
    "context": "What was happening",
    "action_taken": "What was tried",
    "outcome": "What happened",
    "root_cause": "Why it happened",
    "solution": "How to fix",
    "severity": "high",
    "tags": ["docker", "permissions"],
    "source_agent": "CLAUDE_CODE"
  }'

# Report an anti-pattern (something to NEVER do)
curl -X POST http://localhost:8025/lessons/report \
  -H "Content-Type: application/json" \
  -d '{
    "lesson_type": "anti_pattern",
    "domain": "production",
    "category": "deployment",
    "title": "Never modify prod Supabase directly",
    "context": "All changes must go through DEV first",
    "action_taken": "Direct prod modification",
    "outcome": "Data inconsistency, rollback required",
    "alternatives": ["Use DEV environment", "Use promote-to-prod.sh"],
    "severity": "critical",
    "tags": ["production", "supabase", "anti-pattern"],
    "source_agent": "CLAUDE_CODE"
  }'
