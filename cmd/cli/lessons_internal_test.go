package cli

import (
	"strings"
	"testing"
)

func TestReadLessons(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		titles string // those that were read
		places []int
		refuse []int
		err    string
	}{
		"an array":            {`[{"title":"a"},{"title":"b"}]`, "a b", []int{0, 1}, nil, ""},
		"lines":               {"{\"title\":\"a\"}\n\n{\"title\":\"b\"}\n", "a b", []int{0, 1}, nil, ""},
		"one":                 {"{\n\"title\":\"a\"\n}", "a", []int{0}, nil, ""},
		"a byte order mark":   {"\ufeff[{\"title\":\"a\"}]", "a", []int{0}, nil, ""},
		"nothing":             {" \n", "", nil, nil, ""},
		"an empty array":      {"[]", "", nil, nil, ""},
		"some are no lessons": {`[7,{"title":"a"},{"titel":"b"},{"title":7},null,{"title":"c"}]`, "a  c", []int{1, 4, 5}, []int{0, 2, 3}, ""},
		"null for optional":   {`[{"title":"a","root_cause":null,"tags":null}]`, "a", []int{0}, nil, ""},
		"unfinished":          {`[{"title":"a"}`, "", nil, nil, "the array is not finished"},
		"broken":              {`[{"title":"a"},{"title"]`, "", nil, nil, "is not valid JSON at place 1"},
		"followed":            {`[{"title":"a"}] x`, "", nil, nil, "something follows the array"},
		"not UTF-8":           {"[{\"title\":\"\xff\"}]", "", nil, nil, "is not valid UTF-8"},
		"YAML":                {"title: a", "", nil, nil, "is not valid JSON at place 0"},
	} {
		t.Run(name, func(t *testing.T) {
			drafts, places, refused, err := readLessons([]byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			var titles []string
			for _, d := range drafts {
				titles = append(titles, d.Title)
			}
			same := len(places) == len(c.places) && len(refused) == len(c.refuse)
			for i := range min(len(places), len(c.places)) {
				same = same && places[i] == c.places[i]
			}
			for i := range min(len(refused), len(c.refuse)) {
				same = same && refused[i].Index == c.refuse[i]
			}
			if err != nil || strings.Join(titles, " ") != c.titles || !same {
				t.Errorf("titles %q at %v, refused %+v, %v", titles, places, refused, err)
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

func FuzzReadLessons(f *testing.F) {
	f.Add([]byte(`[{"title":"a"},7]`))
	f.Add([]byte("{\"title\":\"a\"}\n{\"x\":1}"))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		drafts, places, refused, err := readLessons(text)
		if err != nil {
			return
		}
		if len(drafts) != len(places) {
			t.Fatalf("%d lessons and %d places", len(drafts), len(places))
		}
		seen := map[int]bool{}
		for _, r := range refused {
			places = append(places, r.Index)
		}
		for _, place := range places {
			if seen[place] || place < 0 || place >= len(places) {
				t.Fatalf("place %d is told twice or is none", place)
			}
			seen[place] = true
		}
	})
}
