package prose

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

var (
	fence = lazy.Regexp("^[ ]*(```+|~~~+)")
	// other matches lines that are no prose and end a paragraph: headings, tables, quotations, HTML, rules, definitions
	// of links.
	other = lazy.Regexp(`^ *(?:#{1,6}(?: |$)|[|>]|<[a-zA-Z/!?]|(?:[-*_] *){3,}$|=+$|\[[^]]+\]:)`)
)

// A page is read line by line.
type page struct {
	found    []paragraph
	open     *paragraph // the one that the next line may continue
	contents []int      // the columns at which the texts of the lists' open items begin
	fence    string     // what ends the open block of code
	html     bool       // until the next empty line
}

// markdownParagraphs returns the paragraphs and items of a page.
func markdownParagraphs(lines []string) []paragraph {
	var p page
	for i, line := range lines {
		p.read(i, line)
	}
	p.flush()
	return p.found
}

func (p *page) read(i int, line string) {
	mark := fence().FindStringSubmatch(line)
	switch {
	case p.fence != "":
		if strings.HasPrefix(strings.TrimSpace(line), p.fence) && strings.Trim(line, " `~") == "" {
			p.fence = ""
		}
	case mark != nil:
		p.flush()
		p.outdent(indented(line))
		p.fence = mark[1]
	case strings.TrimSpace(line) == "":
		p.flush()
		p.html = false
	case p.html:
	case other().MatchString(line):
		p.underline(line)
		p.flush()
		p.outdent(indented(line))
		p.html = strings.HasPrefix(strings.TrimSpace(line), "<") && !strings.HasSuffix(strings.TrimSpace(line), "-->")
	default:
		p.prose(i, line)
	}
}

// underline drops a paragraph that a line below it makes a heading.
func (p *page) underline(line string) {
	if strings.Trim(line, " ") != "" && (strings.Trim(line, "- ") == "" || strings.Trim(line, "= ") == "") {
		p.open = nil
	}
}

// prose takes a line that begins an item or a paragraph or continues one.
func (p *page) prose(i int, line string) {
	indent := indented(line)
	column := 0
	if p.open != nil {
		column = len(p.open.rest)
	}
	head := itemAfter(p.open, column, line)
	switch {
	case strings.ContainsRune(line, '\t'):
		p.flush()
	case head != "" && p.listed(indent):
		p.flush()
		p.contents = append(p.contents, len([]rune(head)))
		p.begin(i, line, head)
	case p.open != nil:
		p.open.last, p.open.text = i, append(p.open.text, line)
	case indent == 0 || slices.Contains(p.contents, indent):
		p.outdent(indent)
		p.begin(i, line, line[:indent])
	}
	if p.open != nil && (strings.HasSuffix(line, "  ") || strings.HasSuffix(line, "\\")) {
		p.open.fixed = true
	}
}

// listed reports whether an item may begin at a column: no code does. It closes the items that are further in.
func (p *page) listed(indent int) bool {
	if indent > 3 && (len(p.contents) == 0 || indent > p.contents[len(p.contents)-1]+3) {
		return false
	}
	p.outdent(indent)
	return true
}

// outdent closes the items whose text begins further in than a column.
func (p *page) outdent(indent int) {
	p.contents = slices.DeleteFunc(p.contents, func(column int) bool { return column > indent })
}

func (p *page) begin(i int, line, head string) {
	rest := strings.Repeat(" ", len([]rune(head)))
	p.open = &paragraph{first: i, last: i, head: head, rest: rest, text: []string{strings.TrimPrefix(line, head)}, item: strings.TrimSpace(head) != ""}
}

func (p *page) flush() {
	if p.open != nil {
		p.found = append(p.found, *p.open)
	}
	p.open = nil
}
