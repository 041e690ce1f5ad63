package records

import "bytes"

// IsDatabase tells whether a file that begins so is an SQLite database.
func IsDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// SabreFacts reads the facts in a facts.db of SABRE, a line of JSON for each.
func SabreFacts(path string) (lines []byte, err error) {
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT json_object('key', key, 'category', category, 'value', CAST(value AS TEXT), 'persona', persona,
		'created_at', created_at, 'updated_at', updated_at, 'expires_at', expires_at, 'access_count', access_count) FROM semantic_facts ORDER BY persona, key`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines, rows.Err()
}
