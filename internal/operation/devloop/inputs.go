package devloop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/dev/loop"
	"github.com/slipway-dev/slipway/internal/filewatch"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// inputs is what the manager is built from, apart from modules that do not change.
type inputs struct {
	folders map[string]bool // absolute, with packages
	embeds  []embed
	outside []string // folders of modules that are outside the project
}

// embed is a pattern of files that a package has in it.
type embed struct{ folder, pattern string }

// allFiles begins patterns that also match hidden files in folders.
const allFiles = "all:"

// has reports whether the pattern matches a file, or a folder around it. The file need not exist any more, or yet.
func (e embed) has(file string) bool {
	rel, err := filepath.Rel(e.folder, file)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for name := filepath.ToSlash(rel); name != "."; name = path.Dir(name) {
		if is, _ := path.Match(e.pattern, name); is { // the go command has accepted the pattern
			return true
		}
	}
	return false
}

// embedded reports whether a file is, or would be, embedded in a package.
func (in *inputs) embedded(file string) bool {
	return slices.ContainsFunc(in.embeds, func(e embed) bool { return e.has(file) })
}

// near reports whether a package in a folder around a file might embed it, also one below root that is not among the
// inputs yet. Without inputs it might.
func (in *inputs) near(file, root string) bool {
	if in == nil {
		return true
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		rel, err := filepath.Rel(root, dir)
		if in.folders[dir] || err == nil && filepath.IsLocal(rel) && hasGo(dir) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// hasGo reports whether a folder has sources of Go.
func hasGo(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() && filepath.Ext(e.Name()) == ".go" })
}

// readInputs asks the go command.
func readInputs(ctx context.Context, o dev.Options, pkg string) (*inputs, error) {
	var out bytes.Buffer
	cmd := gocommand.Command{Dir: o.Dir, Env: o.Env, Stdout: &out, Stderr: io.Discard,
		Args: []string{"list", "-e", "-deps", "-json=Dir,Standard,EmbedPatterns,Module", "./" + pkg}}
	if err := cmd.Run(ctx); err != nil {
		return nil, err
	}
	in := &inputs{folders: map[string]bool{}}
	for decoder := json.NewDecoder(&out); ; {
		var p struct {
			Dir           string
			Standard      bool
			EmbedPatterns []string
			Module        *struct {
				Main    bool
				Dir     string
				Version string
				Replace *struct{ Version string }
			}
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return in, nil
		}
		if err != nil {
			return nil, err
		}
		if p.Standard || p.Module != nil && !p.Module.Main && (p.Module.Replace == nil || p.Module.Replace.Version != "") {
			continue // a module in the cache does not change
		}
		in.folders[p.Dir] = true
		for _, pattern := range p.EmbedPatterns {
			in.embeds = append(in.embeds, embed{p.Dir, strings.TrimPrefix(pattern, allFiles)})
		}
		if rel, err := filepath.Rel(o.Dir, p.Dir); p.Module != nil && (err != nil || !filepath.IsLocal(rel)) && !slices.Contains(in.outside, p.Module.Dir) {
			in.outside = append(in.outside, p.Module.Dir)
		}
	}
}

// folders are those to watch: the project, and modules outside of it that the manager is built from.
func (p *project) folders() []filewatch.Folder {
	all := []filewatch.Folder{{Path: p.root, Below: true}}
	if in := p.inputs.Load(); in != nil {
		for _, dir := range in.outside {
			all = append(all, filewatch.Folder{Path: dir, Below: true})
		}
	}
	return all
}

// skipped reports whether a folder of this name has nothing that the loop reads: neither code nor configuration.
func skipped(name string) bool {
	return sourcefolder.WithoutCode(name) && sourcefolder.WithoutConfiguration(name) || name == "bin"
}

// environmentFile has variables of the manager.
const environmentFile = ".env"

// modules are the files by which the go command chooses modules.
var modules = []string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}

// matters reports whether a file may be an input of anything that the loop does.
func (p *project) matters(file string) bool {
	name := filepath.Base(file)
	if name == environmentFile {
		return true
	}
	return !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") && !strings.HasPrefix(name, "#")
}

// Work returns what changed files make necessary.
func (p *project) Work(files []string) (all loop.Work) {
	p.looked.Add(1)
	in := p.inputs.Load()
	for _, file := range files {
		if !p.isOwn(file) {
			all |= p.work(file, in)
		}
	}
	if all != 0 && p.hasEnded() {
		all |= loop.Restart // also where the program stays the same
	}
	return all
}

// work is what one file makes necessary. Each source counts until a build has succeeded: what it read is known then,
// and may be more than before.
func (p *project) work(file string, in *inputs) (w loop.Work) {
	name, rel := filepath.Base(file), p.relative(file)
	unknown := in == nil || p.building.Load()
	built := unknown || in.folders[filepath.Dir(file)]
	switch {
	case name == environmentFile:
		return loop.Restart
	case strings.HasSuffix(name, "_test.go"):
		p.changed(file)
		return loop.Test & p.always()
	case filepath.Ext(name) == ".go":
		p.changed(file)
		if rel != "" {
			return loop.Generate | loop.Build // the go command knows whether the manager has anything of it
		}
		if built {
			return loop.Build
		}
		return 0
	case slices.Contains(modules, name):
		p.owe(due{dependencies: true})
		return loop.Generate | loop.Install | loop.Build
	case unknown && in.near(file, p.root), !unknown && in.embedded(file):
		w = loop.Build
	}
	return w | p.configuration(rel)
}

// always is what is done after each save.
func (p *project) always() loop.Work {
	if p.settings.Test {
		return loop.Test
	}
	return 0
}

// sampled is what is done about samples without being asked.
func (p *project) sampled() loop.Work {
	if p.settings.Samples {
		return loop.Samples
	}
	return 0
}

// configuration is what a file makes necessary that is no code.
func (p *project) configuration(rel string) loop.Work {
	folder, name := path.Split(rel)
	switch {
	case rel == "":
		return 0
	case name == "PROJECT" || strings.HasPrefix(name, "Makefile") || strings.HasSuffix(name, ".mk") || strings.HasSuffix(name, ".go.txt"):
		p.owe(due{definitions: true, access: true, webhooks: true})
		return loop.Generate | loop.Install | loop.Restart // they say how the manager is started, too
	case isSample(folder):
		return p.sampled()
	case slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && p.isDeployed(folder):
		p.owe(due{definitions: true, access: true, webhooks: true})
		return loop.Install
	}
	return 0
}

// isDeployed reports whether a folder, or one around it, has a kustomization. With a kustomization that cannot be read
// each folder counts.
func (p *project) isDeployed(folder string) bool {
	all, err := p.code(p.saves).Config()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(all.Folders(), func(f string) bool { return strings.HasPrefix(folder, f+"/") || f == "." })
}

// isSample reports whether a folder has samples.
func isSample(folder string) bool {
	return slices.ContainsFunc(strings.Split(strings.Trim(folder, "/"), "/"), codebase.IsSamples)
}

// changed notes that a package has changed, for its tests.
func (p *project) changed(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.sources, file) {
		p.sources = append(p.sources, file)
	}
	if dir := filepath.Dir(file); !slices.Contains(p.tests, dir) {
		p.tests = append(p.tests, dir)
	}
}

// bringsIn are the imports of a source, and its comments that embed files; empty for a file that cannot be read.
func bringsIn(file string) string {
	text, err := safefs.ReadFile(file)
	if err != nil {
		return ""
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return ""
	}
	var all []string
	for _, i := range parsed.Imports {
		all = append(all, i.Path.Value)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "//go:embed") || strings.HasPrefix(line, "//go:build") {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}
