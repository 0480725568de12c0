package piece

import "strings"

// An ImportFor is the import of a fragment: a file that has the fragment in a form of its own needs none.
type ImportFor struct {
	Import
	User Fragment
}

// Put adds the text where it is missing.
func (i ImportFor) Put(file string, src []byte) ([]byte, error) {
	if i.User.present(strings.SplitAfter(string(src), "\n")) {
		return src, nil
	}
	return i.Import.Put(file, src)
}
