package act

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

// TestPrograms reads the table, and holds it to what the code reads of it.
func TestPrograms(t *testing.T) {
	table, err := readPrograms(programsText)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range programFaults(table) {
		t.Error(fault)
	}
	previous := ""
	for name := range wordlist.Pairs(programsText, "") {
		if name < previous {
			t.Errorf("the row of %s stands behind that of %s", name, previous)
		}
		previous = name
	}
}

// TestProgramsNoticesFaults is the negative control.
func TestProgramsNoticesFaults(t *testing.T) {
	for text, want := range map[string]string{
		"rm: does remove\nrm: shows\n":   "rm has two rows",
		"rm: removes\n":                  `rm has the fact "removes", which nobody reads`,
		"rm: shows; shows\n":             `rm has the fact "shows" twice`,
		"rm: same del\nwipe: same del\n": "del is another name of rm and of wipe",
		"rm: does vanish\n":              "rm: nobody reads does vanish",
		"rm: prints loudly\n":            "rm: nobody reads prints loudly",
		"rm: language cobol\n":           "rm: cobol has no row with the options of its programs",
		"rm: service system VERB\n":      "rm: nobody reads service system VERB",
		"rm: runs skip=two\n":            "rm: runs skip=two is no number",
		"rm: options f=force= x\n":       `rm: the option "f=force=" has an empty spelling`,
		"rm: options f=force f\n":        `rm: the option "f" stands there twice`,
		"rm: before f=force\n":           "rm: before, and it runs nothing",
	} {
		got := ""
		if table, err := readPrograms(text); err != nil {
			got = err.Error()
		} else {
			got = strings.Join(programFaults(table), "; ")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// programFaults says what rows say that nobody reads.
func programFaults(table *programTable) (faults []string) {
	fault := func(name string, said ...string) { faults = append(faults, name+": "+strings.Join(said, " ")) }
	may := map[string][]string{
		"does":   slices.Collect(maps.Keys(reading())),
		"prints": strings.Fields("nothing echo printf input matching changed decoded download found tracked paths base dir yes name number temporary environment"),
	}
	for name, row := range table.rows {
		for fact, words := range may {
			if row.has(fact) && !slices.Contains(words, row.one(fact)) {
				fault(name, "nobody reads", fact, row.one(fact))
			}
		}
		if language := row.one("language"); row.has("language") && !table.rows[language].has("own") {
			fault(name, language, "has no row with the options of its programs")
		}
		if shape := row["service"]; row.has("service") {
			upper := slices.DeleteFunc(slices.Clone(shape[1:]), func(w string) bool { return strings.ToLower(w) == w })
			if !slices.Contains([]string{"NAME UNIT", "UNIT VERB", "VERB UNITS"}, strings.Join(upper, " ")) {
				fault(name, "nobody reads service", strings.Join(shape, " "))
			}
		}
		for _, word := range slices.Concat(row["runs"], row["sql"]) {
			key, n, _ := strings.Cut(word, "=")
			if number := key == "skip" || key == "operands" || key == "words"; number && strings.Trim(n, "0123456789") != "" {
				fault(name, "runs", word, "is no number")
			}
		}
		if row.has("before") && !row.has("runs") && !row.has("each") {
			fault(name, "before, and it runs nothing")
		}
		for _, fact := range []string{"options", "before", "client", "own"} {
			seen := map[string]bool{}
			for _, entry := range row[fact] {
				for spelling := range strings.SplitSeq(strings.TrimRight(entry, ":?"), "=") {
					switch {
					case spelling == "":
						fault(name, `the option "`+entry+`" has an empty spelling`)
					case seen[spelling]:
						fault(name, `the option "`+spelling+`" stands there twice`)
					}
					seen[spelling] = true
				}
			}
		}
	}
	return faults
}

func TestWords(t *testing.T) {
	for _, fault := range wordlisttest.Faults(wordsText, func(word string) string { return word }) {
		t.Error(fault)
	}
}
