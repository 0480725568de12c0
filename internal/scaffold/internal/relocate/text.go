package relocate

import (
	"path"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Text rewrites paths and import paths in a file that is not Go, such as a Makefile. The folder of a package whose
// subfolders stay is changed only in arguments of a go command.
func (s *Set) Text(src []byte) []byte {
	lines := strings.SplitAfter(string(src), "\n")
	for i, line := range lines {
		for _, p := range s.Packages {
			line = p.line(line, s.Module)
		}
		for _, f := range s.Folders {
			line = f.line(line, s.Module)
		}
		lines[i] = line
	}
	return []byte(strings.Join(lines, ""))
}

var goTool = lazy.Regexp(`\bgo (test|vet|build|run|generate|list)\b`)

func (p *Package) line(line, module string) string {
	if !strings.Contains(line, p.Dir) {
		return line
	}
	for _, part := range p.Parts {
		for _, name := range part.Files {
			line = replacePath(line, module, path.Join(p.Dir, name), path.Join(part.Dir, part.place(name)), wordEnds)
		}
	}
	switch first := p.Parts[0].Dir; {
	case !strings.HasPrefix(first, p.Dir+"/"):
		return replacePath(line, module, p.Dir, first, wordEnds)
	case len(p.Parts) == 1 && goTool().MatchString(line):
		return replacePath(line, module, p.Dir, first, pathEnds)
	}
	return line // what applies to the folder applies to its subfolders
}

// A Folder has moved with all its contents.
type Folder struct{ From, To string }

// copies matches a Dockerfile's line that names folders.
var copies = lazy.Regexp(`^\s*(COPY|ADD)\s`)

// line rewrites paths below the folder. The folder's name alone may be any word, so it counts only in a line that
// copies.
func (f Folder) line(line, module string) string {
	line = replacePath(line, module, f.From, f.To, `(/)`)
	if copies().MatchString(line) {
		line = replacePath(line, module, f.From, f.To, pathEnds)
	}
	return line
}

const (
	wordEnds = `($|[^\w.-])`
	pathEnds = `($|[^\w./-])`
)

// replacePath replaces a path, relative to the project or below the module's path. End is [wordEnds], which also
// matches the beginning of a longer path, or [pathEnds].
func replacePath(line, module, old, now, end string) string {
	if !strings.Contains(line, old) {
		return line
	}
	pattern := regexp.MustCompile(`(^|[^\w./-]|\./|[)}]/|` + regexp.QuoteMeta(module) + `/)` + regexp.QuoteMeta(old) + end)
	return pattern.ReplaceAllString(line, "${1}"+now+"${2}")
}

// Mentions returns the numbers of lines that name a folder of which a part moved, such as with cd. Only their author
// knows which part they mean.
func (s *Set) Mentions(rewritten []byte) []int {
	var mentions []int
	for i, line := range strings.Split(string(rewritten), "\n") {
		for _, p := range s.Packages {
			if strings.HasPrefix(p.Parts[0].Dir, p.Dir+"/") && replacePath(line, s.Module, p.Dir, p.Parts[0].Dir, pathEnds) != line {
				mentions = append(mentions, i+1)
				break
			}
		}
	}
	return mentions
}
