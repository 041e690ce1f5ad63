package router

import (
	"cmp"
	"embed"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/tfidf"
)

// judgedFiles holds the judged collection: what a team may have noted, questions
// with the entries that answer them, and what the engine found when it was last
// agreed to. See docs/benchmarks.md.
//
//go:embed testdata/judged/entries/*.txt testdata/judged/queries.txt testdata/judged/routing.txt testdata/judged/golden.jsonl
var judgedFiles embed.FS

// The grades of a judgement.
const (
	GradeRelevant = 1 // it helps
	GradeAnswer   = 2 // it is what was asked for
)

// Collection is a memory with questions whose right answers are known. Searches are measured
// by it.
type Collection struct {
	Documents []tfidf.Document // as the services index them
	Questions []JudgedQuestion
	Routing   []RoutedQuestion
}

// JudgedQuestion is a question and what of the collection answers it.
type JudgedQuestion struct {
	Style   string // what kind of question it is, such as "paste" or "typo"
	Project string // the filter that it is asked with; empty: none
	Text    string
	Grades  map[string]int // by id: GradeRelevant or GradeAnswer
}

// RoutedQuestion is a question and the class that it belongs to.
type RoutedQuestion struct {
	Class classify.Class
	Text  string
}

// entryMark begins the line that an entry or a question begins with.
const entryMark = "=== "

// LoadCollection reads the collection that is part of the program.
func LoadCollection() (*Collection, error) { return ReadCollection(judgedFiles, "testdata/judged") }

// ReadCollection reads a collection from a folder with entries/*.txt, queries.txt and routing.txt.
//
// An entry begins with "=== id category project tags", where project may be -
// and tags are joined by commas; then comes a line with its title, then its text.
// An episode's category is episode.TYPE, and in the place of tags it has who
// recorded it and on which day. A question begins with "=== style [project]" and
// ends with lines of a grade and ids.
func ReadCollection(files fs.FS, folder string) (*Collection, error) {
	c := &Collection{}
	names, err := fs.Glob(files, folder+"/entries/*.txt")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range names {
		err := blocks(files, name, func(head []string, lines []string) error {
			document, err := judgedDocument(head, lines)
			if err == nil && known[document.ID] {
				err = fmt.Errorf("%s is there twice", document.ID)
			}
			known[document.ID] = true
			c.Documents = append(c.Documents, document)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	c.shuffle()
	asked := map[string]bool{}
	if err := blocks(files, folder+"/queries.txt", func(head []string, lines []string) error {
		question, err := judgedQuestion(head, lines, known)
		if key := question.key(); err == nil && asked[key] {
			err = fmt.Errorf("%q is asked twice", question.Text)
		} else {
			asked[key] = true
		}
		c.Questions = append(c.Questions, question)
		return err
	}); err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(files, folder+"/routing.txt")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		class, question, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || !slices.Contains(classify.Classes(), classify.Class(class)) {
			return nil, fmt.Errorf("routing.txt: want a class, a tab and a question, not %q", line)
		}
		c.Routing = append(c.Routing, RoutedQuestion{classify.Class(class), question})
	}
	return c, nil
}

// blocks calls visit for each part of a file that begins with a mark: with the
// words of the mark's line and the lines after it, without blank ones at the end.
func blocks(files fs.FS, name string, visit func(head, lines []string) error) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	first, rest, _ := strings.Cut("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"+entryMark)
	if strings.TrimSpace(first) != "" {
		return fmt.Errorf("%s: there is text before the first %q", name, entryMark)
	}
	for block := range strings.SplitSeq(rest, "\n"+entryMark) {
		lines := strings.Split(strings.TrimRight(block, "\n "), "\n")
		if err := visit(strings.Fields(lines[0]), lines[1:]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// judgedDocument makes a document as the service of its kind would.
func judgedDocument(head, lines []string) (tfidf.Document, error) {
	if len(head) < 3 || len(lines) < 2 {
		return tfidf.Document{}, fmt.Errorf("%q wants an id, a category, a project, a title and a text", head)
	}
	project := head[2]
	if project == "-" {
		project = ""
	}
	title, text := lines[0], strings.Join(lines[1:], "\n")
	if kind, e := strings.CutPrefix(head[1], "episode."); e {
		if len(head) != 5 {
			return tfidf.Document{}, fmt.Errorf("episode %q wants who recorded it and when", head)
		}
		at, err := time.Parse(time.DateOnly, head[4])
		if err != nil {
			return tfidf.Document{}, err
		}
		return episode.Document(&episode.Episode{
			ID: head[0], EventType: kind, Title: title, Content: text, Project: project, AgentID: head[3], Persona: "default", CreatedAt: at,
		}), nil
	}
	entry := knowledge.Knowledge{ID: head[0], Category: head[1], Title: title, Content: text, Project: project}
	if len(head) > 3 {
		entry.Tags = strings.Split(head[3], ",")
	}
	return knowledge.Document(&entry), nil
}

// shuffle gives the documents an order of writing. A team's projects write in
// between one another, whereas the files have them by project and matter.
func (c *Collection) shuffle() {
	place := func(d tfidf.Document) uint64 {
		h := fnv.New64a()
		h.Write([]byte(d.ID))
		return h.Sum64()
	}
	slices.SortFunc(c.Documents, func(a, b tfidf.Document) int { return cmp.Compare(place(a), place(b)) })
	for i := range c.Documents {
		c.Documents[i].Order = int64(i + 1)
	}
}

func judgedQuestion(head, lines []string, known map[string]bool) (JudgedQuestion, error) {
	q := JudgedQuestion{Grades: map[string]int{}}
	if len(head) < 1 || len(head) > 2 {
		return q, fmt.Errorf("a question wants a style and a project or none, not %q", head)
	}
	q.Style = head[0]
	if len(head) == 2 {
		q.Project = head[1]
	}
	end := len(lines)
	for ; end > 0; end-- {
		words := strings.Fields(lines[end-1])
		if len(words) < 2 || words[0] != "1" && words[0] != "2" {
			break
		}
		for _, id := range words[1:] {
			if !known[id] {
				return q, fmt.Errorf("no entry is called %q, judged for %q", id, strings.Join(lines[:end], " "))
			}
			q.Grades[id] = int(words[0][0] - '0')
		}
	}
	q.Text = strings.Join(lines[:end], "\n")
	if strings.TrimSpace(q.Text) == "" || len(q.Grades) == 0 {
		return q, fmt.Errorf("question %q wants a text and judgements", q.Text)
	}
	return q, nil
}

// key tells questions apart.
func (q *JudgedQuestion) key() string { return q.Project + "\x00" + q.Text }
