package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

var (
	// marker matches what is read by programs and not by people.
	marker = lazy.Regexp(`^ ?\+\S|^\S`)
	// output matches the line below which an example has its expected output.
	output = lazy.Regexp(`(?i)^ *(?:unordered )?output:`)
)

// goParagraphs returns the paragraphs of a Go file's comments.
func goParagraphs(path string, src []byte, lines []string) ([]paragraph, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil, err
	}
	file := set.File(f.FileStart)
	var found []paragraph
	for _, group := range f.Comments {
		first, last := file.PositionFor(group.Pos(), false).Line-1, file.PositionFor(group.End(), false).Line-1
		if indent, ok := indentation(lines[first : last+1]); ok && !cgo(f, group) {
			found = append(found, commentParagraphs(lines, first, last, indent)...)
		}
	}
	return found, nil
}

// indentation returns what the lines of a comment have before the slashes, if that is the same space for all.
func indentation(lines []string) (indent string, ok bool) {
	indent, _, ok = strings.Cut(lines[0], "//")
	if !ok || strings.Trim(indent, " \t") != "" {
		return "", false
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, indent+"//") {
			return "", false
		}
	}
	return indent, true
}

// cgo reports whether a comment is C code.
func cgo(f *ast.File, group *ast.CommentGroup) bool {
	for _, decl := range f.Decls {
		imports, ok := decl.(*ast.GenDecl)
		if !ok || imports.Tok != token.IMPORT {
			continue
		}
		for _, spec := range imports.Specs {
			if i := spec.(*ast.ImportSpec); i.Path.Value == `"C"` && (i.Doc == group || imports.Doc == group) {
				return true
			}
		}
	}
	return false
}

// commentParagraphs returns the paragraphs of one comment, whose lines all begin with the same space and two slashes.
func commentParagraphs(lines []string, first, last int, indent string) []paragraph {
	var found []paragraph
	var open *paragraph // the one that the next line may continue
	flush := func() {
		if open != nil {
			found = append(found, *open)
		}
		open = nil
	}
	for i := first; i <= last; i++ {
		text := strings.TrimPrefix(lines[i], indent+"//")
		if output().MatchString(text) {
			break
		}
		switch head := itemAfter(open, 1, text); {
		case strings.HasPrefix(text, " ") && head != "":
			flush()
			rest := strings.Repeat(" ", len([]rune(head)))
			open = &paragraph{first: i, last: i, head: indent + "//" + head, rest: indent + "//" + rest, text: []string{text[len(head):]}, item: true}
		case open != nil && continues(text, strings.TrimPrefix(open.rest, indent+"//")):
			open.last, open.text = i, append(open.text, strings.TrimSpace(text))
		case plain(text):
			flush()
			open = &paragraph{first: i, last: i, head: indent + "// ", rest: indent + "// ", text: []string{text[1:]}}
		default:
			flush()
		}
	}
	flush()
	return found
}

// continues reports whether a line belongs to the paragraph before it, whose lines begin with rest.
func continues(text, rest string) bool {
	after, ok := strings.CutPrefix(text, rest)
	return ok && after != "" && after[0] != ' ' && after[0] != '\t' && !marker().MatchString(text) && !heading(text)
}

// plain reports whether a line is text: not empty, not indented, no heading and nothing for programs.
func plain(text string) bool {
	return continues(text, " ")
}

func heading(text string) bool { return strings.HasPrefix(text, " # ") }
