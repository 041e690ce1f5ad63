package question

import "skillrouter/router/classify"

// Questions takes a query apart as Ask does, and returns the questions in it in
// their order: the query itself if it holds one.
func Questions(c *classify.Classifier, query string) []string {
	a := &Asker{classifier: c}
	var texts []string
	for _, part := range a.split(query, func(string) []classify.Mention { return nil }) {
		texts = append(texts, part.text)
	}
	return texts
}
