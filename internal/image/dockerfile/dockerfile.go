// Package dockerfile reads from a project's Dockerfile how its image is made, without running anything.
//
//	recipe, err := dockerfile.Read(content, dockerfile.Options{Files: view, Arguments: map[string]string{"VERSION": "v1"}})
//	recipe.Programs                            // what go build makes, how, and where the image has it
//	recipe.Files, recipe.List(view)            // files of the project in the image
//	recipe.Entrypoint, recipe.User
//	recipe.Left                                // what an image of these alone is without
//
// BuildKit's parser reads lines, here-documents and variables. What is understood is what operators need: stages in
// which the go command builds, by itself or in a recipe of the Makefile, and a last one into which programs and files
// are copied. Whatever else a Dockerfile does is not guessed at: its line is in Left, so that no user takes an image
// without it for one with it.
//
// A Dockerfile is the project's, and here the go command runs as the user and not in a container. It gets only flags
// and variables that are known to start no program and to name no file outside of the project.
package dockerfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// Recipe is what a Dockerfile says.
type Recipe struct {
	Programs   []Build // that the image has; the first one is the one that is started
	Files      []Copy  // of the project that the image has, as far as nothing else is put in their place later
	Folders    []Folder
	Base       string // image of the last stage; "" if it adds nothing to the programs, unless they are put on top of it
	Workdir    string // folder that the program is started in
	Entrypoint []string
	Command    []string
	User       string
	Env        []string // NAME=value
	Labels     map[string]string
	Volumes    []string
	StopSignal string
	Left       []Line
}

// Build is a call of go build.
type Build struct {
	File    string // in which it stands: the Dockerfile or the Makefile
	Line    int
	Package string // like ./cmd or cmd/main.go, seen from where go.mod is; "" is that folder itself
	Flags   []string
	Env     []string // NAME=value, of what the go command heeds
	Path    string   // of the program in the image
}

// Line is a command of which the image has no part.
type Line struct {
	File   string
	Number int
	Text   string // shortened
	Why    string
	// Flag reports whether it is a flag or a variable that go build is run without.
	Flag bool
	// Harmless reports whether the programs and files of the image are the same without it.
	Harmless bool
}

// lacks reports whether the image lacks something for the line.
func (l Line) lacks() bool { return !l.Harmless }

// Options say how a Dockerfile is read.
type Options struct {
	Name      string            // of the Dockerfile, as messages have it; "" is Dockerfile
	Target    string            // stage that becomes the image, by its name or number; "" is the last one
	Arguments map[string]string // those of --build-arg
	Files     fs.FS             // the project's: what is copied, and the Makefile; nil has none
	// On is the image that the last stage begins with, if the image is put on top of it: of a project that is not in
	// Go.
	On *Image
}

// Image is what an image has for the stages that begin with it. No command is gone through then: it may need all that
// the image has.
type Image struct {
	Env     []string // NAME=value
	Workdir string
}

// A SyntaxError is that no builder takes the Dockerfile.
type SyntaxError struct {
	Line int
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *SyntaxError) Unwrap() error { return e.Err }

// A StageError is that a Dockerfile has no stage of the name that was asked for.
type StageError struct{ Stages []string }

func (e *StageError) Error() string { return "it has the stages " + strings.Join(e.Stages, ", ") }

// MaxSize is how long a Dockerfile may be that is read; those of projects have some kilobytes.
const MaxSize = 128 << 10

// maxExpanded is how many bytes variables stand for in all of a Dockerfile: a few lines that double one would take all
// memory. maxSteps is how many commands and files are gone through, and maxStages how many stages there may be.
const (
	maxExpanded = 1 << 20
	maxSteps    = 1 << 16
	maxStages   = 100
)

// reader is a Dockerfile that is being read.
type reader struct {
	Options
	escape  rune
	global  map[string]string // ARG before the first FROM
	outside *stage            // where these are
	stages  []*stage
	left    int // bytes that variables may still stand for
	steps   int // commands and files that may still be gone through
	makes   int // calls of make so far
}

// stage is a part of a Dockerfile that begins with FROM.
type stage struct {
	*reader
	name    string
	base    *stage // another one that it begins with
	image   string // or an image
	inImage bool   // what is in it is in the image
	needs   []*stage
	nodes   []*parser.Node

	config    Recipe
	variables map[string]string // ARG and ENV
	root      string            // where the sources are; "" is not known
	files     []placed
	foreign   bool // SHELL names another than sh
	noted     map[Line]bool
}

// Read reads a Dockerfile.
func Read(content string, o Options) (Recipe, error) {
	if strings.TrimSpace(content) == "" {
		return Recipe{}, nil
	}
	parsed, err := parser.Parse(strings.NewReader(content))
	if err != nil {
		return Recipe{}, syntaxError(err)
	}
	o.Name = cmp.Or(o.Name, "Dockerfile")
	r := &reader{Options: o, escape: parsed.EscapeToken, global: map[string]string{}, left: maxExpanded, steps: maxSteps}
	if err := r.divide(parsed.AST.Children); err != nil {
		return Recipe{}, err
	}
	target, err := r.target()
	if target == nil || err != nil {
		return Recipe{}, err
	}
	for s := target; s != nil; s = s.base {
		s.inImage = true
	}
	for _, s := range r.stages {
		s.begin()
		for _, node := range s.nodes {
			s.instruction(node)
		}
	}
	return r.recipe(target), nil
}

// syntaxError is what the parser reports, with its line.
func syntaxError(err error) error {
	e := &SyntaxError{Line: 1, Err: err}
	if at, ok := errors.AsType[*parser.LocationError](err); ok && len(at.Locations) > 0 && len(at.Locations[0]) > 0 {
		e.Line = max(1, at.Locations[0][0].Start.Line)
	}
	return e
}

// divide divides a Dockerfile into stages.
func (r *reader) divide(nodes []*parser.Node) error {
	r.outside = &stage{reader: r, variables: r.global, noted: map[Line]bool{}}
	for _, node := range nodes {
		switch name := strings.ToUpper(node.Value); {
		case name == "FROM":
			if len(r.stages) == maxStages {
				return &SyntaxError{node.StartLine, fmt.Errorf("there are more than %d stages", maxStages)}
			}
			r.stages = append(r.stages, r.from(node))
		case len(r.stages) > 0:
			s := r.stages[len(r.stages)-1]
			s.nodes = append(s.nodes, node)
		case name == "ARG":
			r.outside.arg(node)
		}
	}
	return nil
}

// from begins a stage.
func (r *reader) from(node *parser.Node) *stage {
	s := &stage{reader: r, name: strconv.Itoa(len(r.stages))}
	words := tokens(node)
	if len(words) == 0 {
		return s
	}
	s.image, _ = r.expand(words[0], r.global) // what cannot be read is no image's name
	if s.base = r.stage(s.image); s.base != nil {
		s.image, s.needs = s.base.image, []*stage{s.base}
	}
	if len(words) == 3 {
		s.name = words[2]
	}
	return s
}

// stage is the stage of a name or number; nil if there is none.
func (r *reader) stage(name string) *stage {
	for i, s := range r.stages {
		if strings.EqualFold(s.name, name) || strconv.Itoa(i) == name {
			return s
		}
	}
	return nil
}

// target is the stage that becomes the image; nil if there is no stage at all.
func (r *reader) target() (*stage, error) {
	if r.Target != "" {
		if s := r.stage(r.Target); s != nil {
			return s, nil
		}
		var names []string
		for _, s := range r.stages {
			names = append(names, s.name)
		}
		return nil, &StageError{names}
	}
	if len(r.stages) == 0 {
		return nil, nil
	}
	return r.stages[len(r.stages)-1], nil
}

// recipe is what the stage that becomes the image holds.
func (r *reader) recipe(target *stage) Recipe {
	recipe := target.config
	recipe.Left = r.outside.config.Left
	if r.On != nil || !plain(target.image) {
		recipe.Base = target.image
	}
	var builds []Build
	needed := map[*stage]bool{}
	target.needed(needed)
	for _, s := range r.stages {
		if !needed[s] {
			continue
		}
		recipe.Left = append(recipe.Left, s.config.Left...)
		for _, p := range s.files {
			if p.build != nil {
				builds = append(builds, *p.build)
			}
		}
	}
	for _, p := range target.files {
		if p.build == nil {
			recipe.Files = append(recipe.Files, p.Copy)
			continue
		}
		b := *p.build
		b.Path = p.To
		recipe.Programs = append(recipe.Programs, b)
	}
	started := recipe.Started()
	if at := slices.IndexFunc(recipe.Programs, func(b Build) bool { return b.Path == started }); at > 0 {
		recipe.Programs = slices.Concat(recipe.Programs[at:at+1], recipe.Programs[:at], recipe.Programs[at+1:])
	}
	if len(recipe.Programs) == 0 && len(builds) == 1 && slices.ContainsFunc(recipe.Left, Line.lacks) { // one of these takes it
		b := builds[0]
		b.Path = cmp.Or(started, path.Join("/", path.Base(b.Path)))
		recipe.Programs = []Build{b}
	}
	return recipe
}

// needed adds a stage and those that it begins with or copies from.
func (s *stage) needed(all map[*stage]bool) {
	if all[s] {
		return
	}
	all[s] = true
	for _, other := range s.needs {
		other.needed(all)
	}
}

// plain says whether an image has nothing that an image of a static program lacks.
func plain(image string) bool {
	repository, _, _ := reference.Split(image)
	name := path.Base(repository)
	return image == "scratch" || strings.Contains(repository, "distroless/") && (name == "static" || strings.HasPrefix(name, "static-"))
}

// searched is where a program is looked for that is started by its name alone.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Started is the path of the program that ENTRYPOINT starts, or CMD if there is no other; "" if there is neither.
func (r Recipe) Started() string {
	words := slices.Concat(r.Entrypoint, r.Command)
	switch {
	case len(words) == 0:
		return ""
	case strings.Contains(words[0], "/"):
		return within(r.Workdir, words[0])
	}
	for dir := range strings.SplitSeq(searched, ":") {
		if full := path.Join(dir, words[0]); r.Has(full) {
			return full
		}
	}
	return path.Join("/usr/local/bin", words[0])
}

// Has reports whether the image has a program or a file at a path.
func (r Recipe) Has(full string) bool {
	return slices.ContainsFunc(r.Programs, func(b Build) bool { return b.Path == full }) ||
		slices.ContainsFunc(r.Files, func(c Copy) bool { return full == c.To || c.dir && strings.HasPrefix(full, withSlash(c.To)) })
}

// unknown matches what stands for a value that is not known, with the variable that it is the value of.
var unknown = lazy.Regexp(recipe.Unknown + `(?:([\w.-]+)` + recipe.Named + `)?`)

// shortened is a text as messages have it, in one line.
func shortened(text string) string {
	const shown = 60
	text = strings.Join(strings.Fields(unknown().ReplaceAllString(text, "…")), " ")
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return text
}
