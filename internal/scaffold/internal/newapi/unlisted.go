package newapi

import (
	"fmt"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// typesDir is the folder of a kind's types: where the project's code has them although PROJECT does not list the kind,
// else [placeOf]. A second type of the same version would be a second schema of that version in the CRD.
func typesDir(p *plan.Plan, file *project.Project, r project.Resource) (string, error) {
	usual := placeOf(file, r)
	if file.Lookup(r.Group, r.Version, r.Kind) != nil {
		return usual, nil
	}
	found, err := projectfile.Declarations(p, file, r)
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(d projectfile.Declaration) bool { return d.Version != r.Version })
	if len(found) == 0 {
		return usual, nil
	}
	dir := path.Dir(found[0].File)
	if wanted := path.Join(dir, path.Base(file.TypesFile(r))); len(found) > 1 || found[0].File != wanted {
		return "", unlisted(r, found, wanted)
	}
	return dir, nil
}

// unlisted refuses a kind that PROJECT does not list while the code has its type in several packages, or in a file that
// is not the one in which types are looked for.
func unlisted(r project.Resource, found []projectfile.Declaration, wanted string) error {
	e := &report.Error{
		What:  fmt.Sprintf("the project's code has the type of %s %s already, and PROJECT does not list it", r.APIVersion(), r.Kind),
		Where: found[0].Where(),
		Hint:  "nothing was changed; move the type to " + wanted + ", then this command adds it to PROJECT as it is",
	}
	if len(found) > 1 {
		e.Hint = "nothing was changed; " + found[1].Where() + " declares it, too, and a CRD has a version once: remove one of them"
	}
	return e
}
