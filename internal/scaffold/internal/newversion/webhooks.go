package newversion

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/deletion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// findWebhooks finds the old version's webhooks, which the new one gets: their package, or the files of the kind in a
// package for several kinds. A version that has webhooks gets no others.
func (v *planner) findWebhooks() error {
	r := v.old
	v.moves = v.movesWebhooks()
	if !v.moves || v.project.WebhooksBesideTypes(r) {
		return nil
	}
	dir, now := v.project.WebhookDir(r), v.project.WebhookDir(v.new)
	if dir == now {
		return nil // one folder has those of all versions
	}
	files, err := v.goFiles(dir)
	if err != nil || len(files) == 0 {
		return err
	}
	for _, o := range v.project.Resources {
		if o.Webhooks != nil && (o.Group != r.Group || o.Kind != r.Kind || o.Version != r.Version) && v.project.WebhookDir(o) == dir {
			v.beside = append(v.beside, o)
		}
	}
	v.suite = v.project.WebhookSuiteTestFile(r)
	there, err := v.Exists(v.project.WebhookSuiteTestFile(v.new))
	if err != nil {
		return err
	}
	name, suite := v.packageName(dir, r.Version), path.Base(v.suite)
	moving := &relocate.Part{Dir: now, Import: path.Join(v.project.Repo, now), Name: v.packageName(now, v.rename(name)[0]), Alias: v.new.ImportAlias(), Files: files, Called: v.rename}
	staying := &relocate.Part{Dir: dir, Import: path.Join(v.project.Repo, dir), Name: name, Alias: r.ImportAlias()}
	if there || len(v.beside) > 0 {
		moving.Files = slices.DeleteFunc(slices.Clone(files), func(file string) bool {
			return file == suite || len(v.beside) > 0 && !strings.HasPrefix(file, r.SingularName()+"_")
		})
		staying.Files = slices.DeleteFunc(files, func(file string) bool { return slices.Contains(moving.Files, file) })
		if slices.Contains(staying.Files, suite) {
			moving.Copies = []string{suite}
		}
	}
	v.webhooks = &relocate.Package{Dir: dir, Import: staying.Import, Name: name, Parts: []*relocate.Part{moving}}
	if len(staying.Files) > 0 {
		v.webhooks.Parts = append(v.webhooks.Parts, staying)
	}
	v.set.Packages = append(v.set.Packages, v.webhooks)
	mistakes, err := (&relocate.Set{Packages: []*relocate.Package{v.webhooks}}).Check(v.source)
	for _, mistake := range mistakes {
		v.Refuse(&report.Error{Class: report.BadProject, What: mistake.Problem, Where: mistake.Position, Hint: mistake.Hint + "; nothing was changed"})
	}
	return errors.Join(err, v.Refusal())
}

// movesWebhooks reports whether the new version gets the webhooks of the old one.
func (v *planner) movesWebhooks() bool {
	now := v.entry(v.new.Version)
	return v.options.Storage && v.old.Webhooks != nil && (now == nil || now.Webhooks == nil)
}

// answerOldPaths plans that webhooks which moved answer at the paths of the old version, too. Webhooks that move a
// second time go on to do so at all paths that they have had: an upgrade may leave out a release.
func (v *planner) answerOldPaths() error {
	if hooks := v.old.Webhooks; hooks == nil || !v.moves || !hooks.Defaulting && !hooks.Validation {
		return nil
	}
	v.Proceed()
	return newwebhook.AnswerOldPaths(v.Plan, v.project, v.new, v.old, v.exact)
}

// dropOldPaths has webhooks not answer any more at the paths of a version that goes.
func (v *planner) dropOldPaths() error {
	if v.new.Webhooks == nil {
		return nil
	}
	if err := deletion.DropOldPaths(v.Plan, v.project, v.new, v.old, v.deletion.options()); err != nil {
		return err
	}
	v.Proceed()
	return nil
}

// goFiles returns the names of the Go files in a folder, with those of tests.
func (v *planner) goFiles(dir string) (files []string, err error) {
	entries, err := v.Code().View().ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".go") {
			files = append(files, e.Name())
		}
	}
	return files, err
}

// source is the text of a file in which names are looked for. A suite that is divided counts without what it sets up.
func (v *planner) source(file string) ([]byte, error) {
	c, err := v.Find(file)
	if err != nil {
		return nil, err
	}
	if file == v.suite && len(v.webhooks.Parts) > 1 {
		return v.suiteOf(c.After(), nil, append([]project.Resource{v.old}, v.beside...)), nil
	}
	return c.After(), nil
}

// divideSuite plans a suite of webhooks for the kinds of each folder, if it is divided. What the new version's suite
// lacks comes with its conversion.
func (v *planner) divideSuite(to string) (divided bool, err error) {
	if len(v.webhooks.Parts) == 1 {
		return false, nil
	}
	there, err := v.Exists(to)
	if err != nil {
		return true, err
	}
	if !there {
		if err := v.Copy(v.suite, to); err != nil {
			return true, err
		}
		rewrite := v.rewriting(v.suite, to)
		err := v.Edit(to, func(file string, src []byte) ([]byte, error) {
			after, err := rewrite(file, v.suiteOf(src, []project.Resource{v.old}, v.beside))
			if err != nil {
				return nil, err
			}
			return v.register(file, after)
		})
		if err != nil {
			return true, err
		}
	}
	if len(v.beside) == 0 {
		return true, v.Remove(v.suite)
	}
	return true, v.Edit(v.suite, func(_ string, src []byte) ([]byte, error) {
		return v.suiteOf(src, v.beside, []project.Resource{v.old}), nil
	})
}

// suiteOf returns a suite's text without what it sets up for some kinds, apart from what others need.
func (v *planner) suiteOf(src []byte, staying, going []project.Resource) []byte {
	before, needed := src, map[string]bool{}
	for _, r := range staying {
		for _, p := range newwebhook.SuitePieces(v.project, r)(src) {
			needed[p.ID()] = true
		}
	}
	for _, r := range going {
		for _, p := range slices.Backward(newwebhook.SuitePieces(v.project, r)(src)) {
			if !needed[p.ID()] {
				src, _ = p.Remove(src)
			}
		}
	}
	return gofile.KeepFormat(v.suite, before, src)
}
