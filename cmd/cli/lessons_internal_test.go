package cli

import "testing"

// TestPerson goes over who judges when --by is left out: only with a token it may be nobody.
func TestPerson(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		flag string
		want string
	}{
		"the flag":             {map[string]string{"SKILLROUTER_AGENT": "a", "USER": "u"}, "Damon W.", "Damon W."},
		"the agent":            {map[string]string{"SKILLROUTER_AGENT": "a", "USER": "u"}, "", "a"},
		"the user":             {map[string]string{"USER": "u"}, "", "u"},
		"the user of Windows":  {map[string]string{"USERNAME": "w"}, "", "w"},
		"nobody":               {nil, "", "captain"},
		"whom the token names": {map[string]string{"USER": "u", "SKILLROUTER_TOKEN": "t"}, "", ""},
	} {
		s := &shell{lookupEnv: func(key string) (string, bool) { v, ok := c.env[key]; return v, ok }}
		if got := s.person(c.flag); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
