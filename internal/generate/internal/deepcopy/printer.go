package deepcopy

import (
	"bytes"
	"fmt"
)

// printer writes Go source as gofmt would leave it: one statement a line,
// indented by tabs.
type printer struct {
	bytes.Buffer
	depth int
}

// line writes one line; an empty one stays empty.
func (p *printer) line(format string, args ...any) {
	for range p.depth {
		p.WriteByte('\t')
	}
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// block writes head, then what body writes, indented, then a closing brace.
func (p *printer) block(head string, body func()) {
	p.line("%s {", head)
	p.depth++
	body()
	p.depth--
	p.line("}")
}

// scope is a block without a head, for names of its own.
func (p *printer) scope(body func()) {
	p.line("{")
	p.depth++
	body()
	p.depth--
	p.line("}")
}

// function writes a function with its comment, after an empty line.
func (p *printer) function(comment, signature string, body func()) {
	p.WriteByte('\n')
	p.line("// %s", comment)
	p.block("func "+signature, body)
}
