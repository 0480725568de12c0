package piece

import (
	"go/parser"
	"go/token"
	"strings"
)

// An ImportFor is the import of another piece: a file that has that one in a form of its own needs none.
type ImportFor struct {
	Import
	User interface{ in(src []byte) bool } // a [Fragment] or a [Declaration]
}

// Put adds the text where it is missing.
func (i ImportFor) Put(file string, src []byte) ([]byte, error) {
	if i.User.in(src) {
		return src, nil
	}
	return i.Import.Put(file, src)
}

// TakenUnused marks the piece as one that only its last use keeps: a file of others may have their code without the
// import, which they would then seem to need.
func (i ImportFor) TakenUnused() {}

func (f Fragment) in(src []byte) bool { return f.present(strings.SplitAfter(string(src), "\n")) }

func (d Declaration) in(src []byte) bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	return err == nil && declares(parsed, d.Name)
}
