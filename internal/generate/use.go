package generate

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/rbac"
	"github.com/slipway-dev/slipway/internal/report"
)

// chosen finds the generators that an edition has, and reads their options.
func chosen(e edition.Edition, all []Generator, uses []Use) ([]use, error) {
	if len(uses) == 0 {
		return nil, &report.Error{What: "no generator", Hint: "use one of " + names(all)}
	}
	var found []use
	for _, u := range uses {
		g, ok := find(all, u.Name)
		if since := e.Later(edition.Word{Name: u.Name}); since != "" {
			return nil, &report.Error{Class: report.BadProject, What: "controller-gen " + e.Version + " has no generator " + u.Name, Hint: "leave it out, or pin " + since + ", which has it"}
		}
		if !ok {
			return nil, &report.Error{Class: report.BadProject, What: "unknown generator " + u.Name, Hint: "use one of " + names(all)}
		}
		options, problem := marker.ParseOption(g.Options, u.Options)
		if problem != nil {
			return nil, &report.Error{Class: report.BadProject, What: problem.Message, Where: g.Name + ":" + u.Options, Hint: problem.Suggestion}
		}
		found = append(found, use{Generator: g, options: options, output: u.Output})
	}
	return found, nil
}

// path is where a file of the generator goes, below dir if it is relative.
func (u use) path(dir string, f generator.File) (string, error) {
	if !filepath.IsLocal(f.Name) {
		return "", &report.Error{Class: report.BadProject, What: "the name of a generated file leads out of its folder", Where: f.Name, Hint: "use a group and a plural with letters, digits, dashes and dots"}
	}
	folder := u.output.Folder(u.Name)
	if f.Package != nil {
		folder = cmp.Or(u.output.Code, f.Package.Dir)
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	return filepath.Join(folder, f.Name), nil
}

// RoleName is the name of a file's first ClusterRole, as far as the file can be read; "" where it has none, or one
// whose name is not plain.
func RoleName(content []byte) string { return rbac.RoleName(content) }

func find(all []Generator, name string) (Generator, bool) {
	for _, g := range all {
		if g.Name == name {
			return g, true
		}
	}
	return Generator{}, false
}

func names(all []Generator) string { return strings.Join(namesOf(all), ", ") }

func namesOf(all []Generator) (list []string) {
	for _, g := range all {
		list = append(list, g.Name)
	}
	return list
}
