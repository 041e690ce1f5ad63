package httpapi

import (
	"testing"
	"time"
)

func TestRefusalsInTheLogAreBounded(t *testing.T) {
	refused := refusals()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	count := func() (logged int) {
		for range 10 * maxRefusalsLogged {
			if refused.AllowN(at, 1) {
				logged++
			}
		}
		return logged
	}
	if got := count(); got != maxRefusalsLogged {
		t.Errorf("%d refusals of a minute are logged, want %d", got, maxRefusalsLogged)
	}
	at = at.Add(time.Minute)
	if got := count(); got != maxRefusalsLogged {
		t.Errorf("%d refusals of the next minute are logged, want %d", got, maxRefusalsLogged)
	}
}
