package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gorm.io/gorm"

	"skillrouter/operational"
)

// fewTasks is up to how many tasks are looked up one by one, some 5 µs each. Where more hold the words, a listing
// that goes through all tasks in its own order soon has enough of them.
const fewTasks = 2000

// taskWords says which tasks hold a word, or a part of one, as the column folded does: it has the words of that column once,
// and for each the tasks that have it.
//
// It follows the table by the numbers of tasks, inside the snapshot of who asks: what that sees is here, whoever wrote
// it. Numbers are given once, in the order of the commits, and a task keeps its title and description while a router runs.
type taskWords struct {
	mu      sync.Mutex
	numbers []int64 // of the tasks that were read; a task's place among them is what the postings have
	words   map[string]int
	text    []byte // all words, a line each
	starts  []int  // where each word begins in text
	tasks   []postings
}

// postings are the places of tasks, growing, each as how much it is after the one before.
type postings struct {
	deltas []byte
	last   int
}

// catchUp reads the tasks that came since it was read last, as tx sees them.
func (w *taskWords) catchUp(tx *gorm.DB) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := int64(0)
	if n := len(w.numbers); n > 0 {
		last = w.numbers[n-1]
	}
	rows, err := tx.Raw("SELECT number, folded FROM tasks WHERE number > ? ORDER BY number", last).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var folded string
		if err := rows.Scan(&number, &folded); err != nil {
			return err
		}
		w.add(number, folded)
	}
	return rows.Err()
}

func (w *taskWords) add(number int64, folded string) {
	if w.words == nil {
		w.words = map[string]int{}
	}
	place := len(w.numbers)
	w.numbers = append(w.numbers, number)
	for word := range strings.FieldsSeq(folded) {
		i, known := w.words[word]
		if !known {
			i = len(w.starts)
			w.words[strings.Clone(word)] = i
			w.starts, w.tasks = append(w.starts, len(w.text)), append(w.tasks, postings{last: -1})
			w.text = append(append(w.text, word...), '\n')
		}
		if p := &w.tasks[i]; p.last < place {
			p.deltas, p.last = binary.AppendUvarint(p.deltas, uint64(place-max(p.last, 0))), place
		}
	}
}

// held has a bit for each of the words, of which there are at most 32, that a task holds.
func (w *taskWords) held(words []string) (held []uint32, numbers []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held = make([]uint32, len(w.numbers))
	for bit, word := range words {
		for at := 0; at < len(w.text); {
			found := bytes.Index(w.text[at:], []byte(word))
			if found < 0 {
				break
			}
			i, exact := slices.BinarySearch(w.starts, at+found)
			if !exact {
				i--
			}
			place := 0
			for deltas := w.tasks[i].deltas; len(deltas) > 0; {
				delta, size := binary.Uvarint(deltas)
				place, deltas = place+int(delta), deltas[size:]
				held[place] |= 1 << bit
			}
			at = len(w.text)
			if i+1 < len(w.starts) {
				at = w.starts[i+1]
			}
		}
	}
	return held, w.numbers[:len(held):len(held)]
}

// taskLook is one of the looks at the table that a listing makes, one after another.
type taskLook struct {
	numbers []int64 // the tasks that hold the words, if they are few
	all     bool    // they are not: all tasks are compared with the words
	held    int     // how many words of AnyOf these tasks hold
}

// rows are the tasks of a filter that the look is for, in an order.
func (l taskLook) rows(tx *gorm.DB, filter operational.TaskFilter, order string) *gorm.DB {
	if !l.all {
		filter.Text = ""
		list, _ := json.Marshal(l.numbers) // plain numbers
		return selectTasks(tx, filter).Where("number IN (SELECT CAST(value AS BIGINT) FROM {elements ?})", string(list)).Order("{unindexed}" + order)
	}
	if filter.AgentID != "" { // an agent has few tasks: to sort them is cheaper than to look through all in order
		order = "{unindexed}" + order
	}
	q := selectTasks(tx, filter)
	if l.held > 0 {
		q = holdingSome(q, filter.AnyOf, l.held)
	}
	return q.Order(order)
}

// looks says how to find the tasks that hold the words of a filter: those that hold more words of its AnyOf first.
func (w *taskWords) looks(tx *gorm.DB, filter operational.TaskFilter) ([]taskLook, error) {
	text := filterWords(filter.Text)
	if len(text)+len(filter.AnyOf) == 0 {
		return []taskLook{{all: true}}, nil
	}
	looks := make([]taskLook, len(filter.AnyOf)+1)
	for i := range looks {
		looks[i].held = len(filter.AnyOf) - i
	}
	if slices.ContainsFunc(filter.AnyOf, func(word string) bool { return strings.ContainsFunc(word, unicode.IsSpace) }) {
		for i := range looks {
			looks[i].all = true // several words: which tasks hold them one behind the other is in the table alone
		}
		return looks[:len(filter.AnyOf)], nil
	}
	if err := w.catchUp(tx); err != nil {
		return nil, err
	}
	words := slices.Clone(text)
	for _, word := range filter.AnyOf {
		words = append(words, fold(word))
	}
	must := uint32(1)<<len(text) - 1
	held, numbers := w.held(words)
	for place, has := range held {
		if has&must != must {
			continue
		}
		look := &looks[len(filter.AnyOf)-bits.OnesCount32(has&^must)]
		if len(look.numbers) == fewTasks {
			look.all = true
		} else {
			look.numbers = append(look.numbers, numbers[place])
		}
	}
	if len(filter.AnyOf) > 0 {
		looks = looks[:len(filter.AnyOf)] // what holds none of them is not listed
	}
	return slices.DeleteFunc(looks, func(l taskLook) bool { return len(l.numbers) == 0 }), nil
}
