package history

import (
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// standingConfidence is what a sentence that is to be kept to is worth: a person said it, of whatever it is.
const standingConfidence = 0.75

// standing proposes what a person said that is to be kept to from then on.
func (t Transcript) standing() (drafts []ProposalDraft) {
	for i, turn := range t.Turns {
		for _, s := range decision.Said(turn.Content) {
			if !s.Back {
				drafts = append(drafts, ProposalDraft{
					Kind: ProposalEpisode, Confidence: standingConfidence, Evidence: []string{s.Text}, Turns: []int{i},
					Episode: &episode.Draft{EventType: episode.EventDecision, Title: s.Text, Content: "A person said so to an agent: " + s.Text},
				})
			}
		}
	}
	return drafts
}
