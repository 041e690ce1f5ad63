package mcpserver

import (
	"reflect"
	"sync"

	"skillrouter/comms"
	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/learning/guard"
	"skillrouter/learning/history"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
	"skillrouter/router/search"
)

// views are how things of each type are put before a model. What has none is figures and names of an answer.
var views = sync.OnceValue(func() map[reflect.Type]view {
	const unfelt = "source use_count last_used created_at updated_at redacted relevance" // of knowledge
	const unneeded = "related_files contexts trigger_pattern block_action proposed transferability source_case_ids pattern_id " +
		"initial_confidence decay_constant confidence_at last_occurred times_applied times_succeeded validated validated_by validation_notes " +
		"last_validated_at superseded_by retired_at retired_reason deprecated updated_at relevance"
	return map[reflect.Type]view{
		reflect.TypeFor[knowledge.Hit]():       {hides: unfelt, entry: by(knowledgeEntry)},
		reflect.TypeFor[knowledge.Knowledge](): {from: from(entryAlone), hides: unfelt, entry: by(knowledgeEntry)},
		reflect.TypeFor[pastEpisode]():         {hides: "number", entry: by(episodeEntry)},
		reflect.TypeFor[lesson.Lesson]():       {hides: unneeded, entry: by(lessonEntry)},
		reflect.TypeFor[lesson.Hit]():          {hides: unneeded, entry: by(foundLesson)},
		reflect.TypeFor[lesson.Change]():       {from: from(shownChange), hides: "lesson_id before after", texts: "note"},
		reflect.TypeFor[lesson.Suggestion]():   {texts: "title why evidence"},
		reflect.TypeFor[lesson.Stale]():        {texts: "title"},
		reflect.TypeFor[lesson.Pattern](): {
			only: "id number pattern_name pattern_type description domain status confidence discrimination_weight occurrence_count recommended_action " +
				"prevention_steps why lesson_ids episode_ids last_seen",
			texts: "pattern_name description recommended_action why prevention_steps",
		},
		reflect.TypeFor[guard.Rule](): {
			only:  "rule_id title why_bad alternatives severity domain blocks demoted confidence precision times_triggered heeded overridden",
			texts: "title why_bad alternatives",
		},
		reflect.TypeFor[lesson.CheckRecord](): {from: from(shownCheck), only: "check_id at agent_id proposed_action decision outcome", texts: "proposed_action"},
		reflect.TypeFor[operational.Escalation](): {
			only:  "id lesson_id pattern_id title domain source_agent escalated_to reason priority status occurrence_count created_at",
			texts: "title reason", by: "source_agent",
		},
		reflect.TypeFor[fact.Fact]():                   {hides: "last_accessed created_at updated_at", texts: "value probe source"},
		reflect.TypeFor[history.Proposal]():            {from: from(shownProposal), only: "id kind content confidence evidence status stored_as agent_id reason", texts: "content evidence reason"},
		reflect.TypeFor[procedure.Procedure]():         {texts: "description"},
		reflect.TypeFor[procedureSummary]():            {only: "persona name description category steps version success_rate avg_execution_time runs", texts: "description"},
		reflect.TypeFor[experience.Experience]():       {texts: "problem solution metadata notes"},
		reflect.TypeFor[experience.Pattern]():          {texts: "description"},
		reflect.TypeFor[experience.ApplicableLesson](): {texts: "statement contexts"},
		reflect.TypeFor[operational.Reminder](): {
			from: from(shownReminder), by: "created_by", texts: "task note context",
			hides: "conversation_id trigger_type trigger_value timezone project fired fired_at message_id created_at updated_at redacted",
		},
		reflect.TypeFor[operational.Task]():        {texts: "title description note blocked_reason error result"},
		reflect.TypeFor[operational.Lease]():       {texts: "why patterns"},
		reflect.TypeFor[operational.Agent]():       {texts: "current_task status stop_reason project_path"},
		reflect.TypeFor[operational.Environment](): {texts: "name description"},
		reflect.TypeFor[operational.Scan]():        {texts: "environment scanner summary"},
		reflect.TypeFor[operational.Finding]():     {texts: "title location remediation description evidence"},
		reflect.TypeFor[operational.Token]():       {texts: "note"},
		reflect.TypeFor[operational.Session]():     {hides: "data", texts: "summary goal"},
		reflect.TypeFor[operational.Receipt]():     {},
		reflect.TypeFor[comms.OverdueMessage]():    {only: "message_id seq from_agent_id to_agent_id signal thread_id waiting age_ms", by: "from_agent_id"},
		reflect.TypeFor[search.Hit]():              {by: "author", texts: "title snippet"},
	}
})
