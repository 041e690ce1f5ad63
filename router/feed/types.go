package feed

import (
	"slices"
	"strings"

	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/operational/person"
	"skillrouter/router/kind"
)

// Type is a type of event that the feed may hold.
type Type struct {
	Type   string
	Kinds  []string // the names in its log, if the experience server names it
	Source operational.FeedSource
	Data   string // the members of its data
	When   string
}

// Types lists every type of event in the feed, group by group, those of the
// kinds of memory last. A type that is not here cannot be asked for.
func Types() []Type { return slices.Clone(types) }

// What the events of one kind of thing tell of it.
const (
	lessonMembers    = "number, lesson_type, domain, title, severity, previous_severity?, level, confidence, previous_confidence?, reason?, escalate?"
	patternMembers   = "number, pattern_type, pattern_name, description, domain, occurrence_count, confidence, reason?"
	guardMembers     = "decision?, rule_ids?, outcome?, result?, reason?"
	approvalMembers  = "state?, by, number, ends_at?"
	leaseMembers     = "lease_id, patterns, shared, why?, expires_at?, ended?, ended_by?"
	taskMembers      = "number, title, from?, status, agent_id?, progress, note?"
	findingMembers   = "environment, cve?, title, severity, from?, status"
	reminderMembers  = "id, persona, task, trigger_type, status, fired, missed?, delivered_to?, agent_id?, created_by?, scheduled_for?"
	escalatedMembers = "the escalation"
	sessionMembers   = "agent_id, persona, goal?, summary?, successor?, task_count, message_count, step_count, reminder_count"
	proposalMembers  = "transcript_id, kind, stored_as?, decided_by"
	tokenMembers     = "agent_id, scopes"
)

var types = append([]Type{
	{ExperienceRecorded, []string{lesson.EventExperienceRecorded}, operational.FeedLearning, "episode_id, utility_score", "an episode with an outcome was recorded"},
	{PatternEmerged, []string{lesson.EventPatternEmerged}, operational.FeedLearning, "pattern_id, description", "a pattern was found, or found again after it was deprecated"},
	{LessonExtracted, []string{lesson.EventReported}, operational.FeedLearning, "lesson_id, statement, confidence", "there is a new lesson"},
	{LessonValidated, []string{lesson.EventValidated, lesson.EventApplied}, operational.FeedLearning, "lesson_id, previous_confidence, new_confidence", "a lesson was judged or applied"},
	{LessonDeprecated, []string{lesson.EventRetired}, operational.FeedLearning, "lesson_id, reason", "a lesson was retired"},
	{lesson.EventOccurred, nil, operational.FeedLearning, lessonMembers, "a lesson was reported again"},
	{lesson.EventEdited, nil, operational.FeedLearning, lessonMembers, "its text or place was changed"},
	{lesson.EventPromoted, nil, operational.FeedLearning, lessonMembers, "it rose to the next level"},
	{lesson.EventRestored, nil, operational.FeedLearning, lessonMembers, "a retired lesson is in use again"},
	{lesson.EventPatternSeen, nil, operational.FeedLearning, patternMembers, "there is more evidence of a pattern"},
	{lesson.EventPatternConfirmed, nil, operational.FeedLearning, patternMembers, "a pattern was confirmed"},
	{lesson.EventPatternEdited, nil, operational.FeedLearning, patternMembers, "what it says was changed"},
	{lesson.EventPatternDeprecated, nil, operational.FeedLearning, patternMembers, "a pattern no longer holds"},
	{experience.EventPatternSwept, nil, operational.FeedLearning, patternMembers, "an old pattern was deleted"},
	{learning.EventLessonImported, nil, operational.FeedLearning, lessonMembers, "a lesson came from another router"},
	{learning.EventPatternImported, nil, operational.FeedLearning, "", "a pattern came from another router"},
	{episode.EventExperiencesSwept, nil, operational.FeedLearning, "count, before, ids", "old episodes were deleted"},
	{learning.EventEpisodeRecorded, nil, operational.FeedLearning, "", "an episode was recorded"},
	{episode.EventEdited, nil, operational.FeedLearning, "", "what an episode says was changed"},
	{episode.EventDeleted, nil, operational.FeedLearning, "", "an episode was deleted"},
	{episode.EventEpisodesCleared, nil, operational.FeedLearning, "persona, category, count, ids", "a persona's episodes were cleared"},
	{lesson.EventActionChecked, nil, operational.FeedLearning, guardMembers, "the guard warned of an action or blocked it; what it allows is no event"},
	{lesson.EventCheckSettled, nil, operational.FeedLearning, guardMembers, "what came of a check"},
	{lesson.EventRuleDemoted, nil, operational.FeedLearning, lessonMembers, "a rule no longer blocks"},
	{lesson.EventPackChanged, nil, operational.FeedLearning, guardMembers, "a pack of the guard's rules was switched"},
	{lesson.EventApproval, nil, operational.FeedLearning, approvalMembers, "a person allowed or refused what the guard blocked, or what was allowed was used"},
	{lesson.EventPermission, nil, operational.FeedLearning, approvalMembers, "a person gave or revoked a standing permission"},
	{lesson.EventRuleRestored, nil, operational.FeedLearning, guardMembers, "a demoted rule blocks again"},
	{history.EventTranscriptConsolidated, nil, operational.FeedLearning, "persona, session_id?, extractor, proposals", "a transcript was consolidated"},
	{history.EventProposalAccepted, nil, operational.FeedLearning, proposalMembers, "a proposal was stored"},
	{history.EventProposalRejected, nil, operational.FeedLearning, proposalMembers, "a proposal was refused"},
	{"agent.state", nil, operational.FeedOperational, "from, to, status", "an agent is starting, online, stale or offline"},
	{"agent.status", nil, operational.FeedOperational, "status, current_task, progress", "what an agent says that it does"},
	{operational.EventLeaseTaken, nil, operational.FeedOperational, leaseMembers, "an agent says which files it works on"},
	{operational.EventLeaseEnded, nil, operational.FeedOperational, leaseMembers, "a lease of files was given back, or has lapsed"},
	{operational.EventTaskCreated, nil, operational.FeedOperational, taskMembers, "a task is new"},
	{operational.EventTaskClaimed, nil, operational.FeedOperational, taskMembers, "an agent took a task"},
	{operational.EventTaskProgress, nil, operational.FeedOperational, taskMembers, "how far a task has come"},
	{operational.EventTaskBlocked, nil, operational.FeedOperational, taskMembers, "a task cannot go on"},
	{operational.EventTaskUnblocked, nil, operational.FeedOperational, taskMembers, "a task can go on"},
	{operational.EventTaskCompleted, nil, operational.FeedOperational, taskMembers, "a task is done"},
	{operational.EventTaskFailed, nil, operational.FeedOperational, taskMembers, "a task failed"},
	{operational.EventTaskReleased, nil, operational.FeedOperational, taskMembers, "a task is free again"},
	{operational.EventTaskCancelled, nil, operational.FeedOperational, taskMembers, "a task was given up"},
	{operational.EventTaskReassigned, nil, operational.FeedOperational, taskMembers, "another agent has the task"},
	{operational.EventMessageSent, nil, operational.FeedMessages, "message_id, seq, from_agent_id, to_agent_id?, signal, priority, thread_id?", "a signal was sent; never its context"},
	{operational.EventEscalationRaised, nil, operational.FeedOperational, escalatedMembers, "somebody should look at a lesson"},
	{operational.EventEscalationReviewed, nil, operational.FeedOperational, escalatedMembers, "somebody looks at it"},
	{operational.EventEscalationSettled, nil, operational.FeedOperational, escalatedMembers, "it was resolved or dismissed"},
	{operational.EventReminderScheduled, nil, operational.FeedOperational, reminderMembers, "a reminder is new"},
	{operational.EventReminderDue, nil, operational.FeedOperational, reminderMembers, "a reminder came due"},
	{operational.EventReminderDelivered, nil, operational.FeedOperational, reminderMembers, "one that had come due reached somebody"},
	{operational.EventReminderCompleted, nil, operational.FeedOperational, reminderMembers, "it was done"},
	{operational.EventReminderCancelled, nil, operational.FeedOperational, reminderMembers, "it was given up"},
	{operational.EventReminderEdited, nil, operational.FeedOperational, reminderMembers, "what it says was changed"},
	{operational.EventReminderSnoozed, nil, operational.FeedOperational, reminderMembers, "it was put off"},
	{operational.EventReminderUnjudged, nil, operational.FeedOperational, reminderMembers, "its condition cannot be judged"},
	{operational.EventRemindersCleared, nil, operational.FeedOperational, "persona, trigger_type?, count", "a persona's reminders were cleared"},
	{operational.EventSessionStarted, nil, operational.FeedOperational, sessionMembers, "a session began"},
	{operational.EventSessionEnded, nil, operational.FeedOperational, sessionMembers, "a session ended"},
	{operational.EventEnvironmentStored, nil, operational.FeedOperational, "name, kind", "an environment is new or changed"},
	{operational.EventScanStarted, nil, operational.FeedOperational, "environment, scanner, status", "a scan began"},
	{operational.EventScanFinished, nil, operational.FeedOperational, "environment, scanner, status", "a scan ended"},
	{operational.EventFindingReported, nil, operational.FeedOperational, findingMembers, "a finding is new"},
	{operational.EventFindingSeen, nil, operational.FeedOperational, findingMembers, "a finding was seen again"},
	{operational.EventFindingReopened, nil, operational.FeedOperational, findingMembers, "a settled finding was seen again"},
	{operational.EventFindingDecided, nil, operational.FeedOperational, findingMembers, "a finding's status was decided"},
	{operational.EventTokenIssued, nil, operational.FeedOperational, tokenMembers, "a token was issued; for admins only"},
	{operational.EventTokenRevoked, nil, operational.FeedOperational, tokenMembers, "a token was revoked; for admins only"},
	{person.EventPassphraseSet, nil, operational.FeedOperational, "", "the passphrase was set or changed; for captains only"},
	{person.EventPassphraseReset, nil, operational.FeedOperational, "", "the passphrase was reset, because it was lost; for captains only"},
	{person.EventPassphraseStops, nil, operational.FeedOperational, "", "a person said whether agents_may_stop has effect; for captains only"},
}, typesOfKinds()...)

// typesOfKinds are the events that the kinds of memory tell of.
func typesOfKinds() (types []Type) {
	for _, k := range kind.All() {
		for _, e := range k.Events {
			types = append(types, Type{e.Type, nil, operational.FeedLearning, e.Data, e.When})
		}
	}
	return types
}

// names has every name that an event may be asked for by.
var names = func() []string {
	var names []string
	for _, t := range types {
		names = append(append(names, t.Type), t.Kinds...)
	}
	return names
}()

// knownType tells whether a type, or a group such as "task.*", is that of any event.
func knownType(name string) bool {
	group, ok := strings.CutSuffix(name, "*")
	if !ok {
		return slices.Contains(names, name)
	}
	return group == "" || strings.HasSuffix(group, ".") && slices.ContainsFunc(names, func(known string) bool { return strings.HasPrefix(known, group) })
}
