package relocate

import (
	"path"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Text rewrites a file that is not Go, such as a Makefile: paths of files and folders that
// moved, and their import paths. The folder of a package that other folders stay in is left
// alone, unless a go command is given it.
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
	return line // what is said of the folder is true of those below it
}

// A Folder is one that has moved with all that was in it.
type Folder struct{ From, To string }

// copies matches a line of a Dockerfile that names folders, with or without a slash behind them.
var copies = lazy.Regexp(`^\s*(COPY|ADD)\s`)

// line rewrites a line that names the folder or something in it. Its name alone may be any word.
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

// replacePath replaces a path where it stands by itself or, depending on end, begins a
// longer one. It may be relative to the project or stand below the module's path.
func replacePath(line, module, old, now, end string) string {
	if !strings.Contains(line, old) {
		return line
	}
	pattern := regexp.MustCompile(`(^|[^\w./-]|\./|[)}]/|` + regexp.QuoteMeta(module) + `/)` + regexp.QuoteMeta(old) + end)
	return pattern.ReplaceAllString(line, "${1}"+now+"${2}")
}

// Mentions are the numbers of lines that name a folder of which only a part has moved, such as
// those that change into it: only their author knows which part they mean.
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
