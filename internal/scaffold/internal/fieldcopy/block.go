package fieldcopy

import (
	"fmt"
	"strings"
)

// A block is Go statements.
type block struct {
	text  strings.Builder
	depth int  // of blocks around the next statement
	loops int  // of loops around it
	open  bool // a statement is left to the user
}

func (b *block) line(format string, args ...any) {
	b.text.WriteString(strings.Repeat("\t", b.depth+1) + fmt.Sprintf(format, args...) + "\n")
}

// todo leaves something to the user.
func (b *block) todo(format string, args ...any) {
	b.open = true
	b.line("// TODO: "+format+".", args...)
}

// inner returns a block for statements that are so much deeper in b.
func (b *block) inner(deeper int) *block {
	return &block{depth: b.depth + deeper, loops: b.loops + 1}
}

// add adds the statements of a block.
func (b *block) add(inner *block) {
	b.text.WriteString(inner.text.String())
	b.open = b.open || inner.open
}

// index returns the name of a loop's index, which no loop around it has.
func (b *block) index() string {
	if letters := "ijklmnopqrs"; b.loops < len(letters) {
		return letters[b.loops : b.loops+1]
	}
	return fmt.Sprintf("i%d", b.loops)
}
