package learning_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning"
)

func TestPrefer(t *testing.T) {
	for _, c := range []struct {
		preferred, project string
		trust              learning.Trust
		factor             float64
		lanes              []string
	}{
		{"", "shop", learning.TrustImported, 1, nil},
		{"shop", "shop", learning.TrustAgent, 1.25, []string{"project"}},
		{"shop", "", learning.TrustAgent, 1, nil},
		{"shop", "ledger", learning.TrustAgent, 1, []string{"other project"}},
		{"shop", "shop", learning.TrustImported, 1, []string{"project", "trust"}},
		{"shop", "ledger", learning.TrustImported, 0.8, []string{"other project", "trust"}},
	} {
		factor, why := learning.Prefer(c.preferred, c.project, c.trust)
		sum, lanes := 1.0, []string(nil)
		for _, r := range why {
			sum, lanes = sum+r.Weight, append(lanes, r.Lane)
		}
		if diff := factor - c.factor; diff > 1e-9 || diff < -1e-9 || !cmp.Equal(lanes, c.lanes) || sum-factor > 1e-9 || factor-sum > 1e-9 {
			t.Errorf("%+v: factor %v, reasons %v that add up to %v", c, factor, why, sum)
		}
	}
}
