package shelf

import "context"

// MaxListed bounds how many ids an IndexCheck lists of each kind.
const MaxListed = 20

// IndexCheck compares a search index with its database.
type IndexCheck struct {
	Stored  int      `json:"stored"`            // rows in the database
	Indexed int      `json:"indexed"`           // documents in the index
	Missing []string `json:"missing,omitempty"` // stored and not indexed, the first MaxListed
	Surplus []string `json:"surplus,omitempty"` // indexed and not stored, the first MaxListed
}

// OK tells whether both hold the same.
func (c IndexCheck) OK() bool { return c.Stored == c.Indexed && len(c.Missing)+len(c.Surplus) == 0 }

// Check compares the index with the database. Rows that are written meanwhile
// may show as missing or surplus.
func (s *Shelf[Row]) Check(ctx context.Context) (IndexCheck, error) {
	indexed := s.Keeper.Index().IDs()
	check := IndexCheck{Indexed: len(indexed)}
	left := make(map[string]bool, len(indexed))
	for _, id := range indexed {
		left[id] = true
	}
	err := s.log.IDs(ctx, s.of.Kind, func(id string) {
		check.Stored++
		if !left[id] && len(check.Missing) < MaxListed {
			check.Missing = append(check.Missing, id)
		}
		delete(left, id)
	})
	for id := range left {
		if len(check.Surplus) == MaxListed {
			break
		}
		check.Surplus = append(check.Surplus, id)
	}
	return check, err
}
