package cli

import (
	"strings"
	"testing"
)

func TestObjectsOf(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string // each on a line
		err        string
	}{
		"an array":          {`[{"title":"a"},7]`, "{\"title\":\"a\"}\n7", ""},
		"lines":             {"{\"title\":\"a\"}\n\n{\"x\":1}\n", "{\"title\":\"a\"}\n{\"x\":1}", ""},
		"a byte order mark": {"\ufeff[1]", "1", ""},
		"nothing":           {" \n", "", ""},
		"an empty array":    {"[]", "", ""},
		"unfinished":        {`[{"title":"a"}`, "", "is not valid JSON"},
		"followed":          {`[{"title":"a"}] x`, "", "is not valid JSON"},
		"not UTF-8":         {"[{\"title\":\"\xff\"}]", "", "is not valid UTF-8"},
		"YAML":              {"title: a", "", "is not valid JSON at place 0"},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := objectsOf([]byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			var got []string
			for _, one := range list {
				got = append(got, string(one))
			}
			if err != nil || strings.Join(got, "\n") != c.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

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
