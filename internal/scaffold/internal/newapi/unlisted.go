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
	if recorded := file.Lookup(r.Group, r.Version, r.Kind); recorded != nil && projectfile.Own(file, *recorded) {
		return file.APIDir(*recorded), nil
	}
	found, err := projectfile.Declarations(p, file, r)
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(d projectfile.Declaration) bool { return d.Version != r.Version })
	if len(found) == 0 {
		return placeOf(p, file, r)
	}
	if len(found) > 1 {
		return "", unlisted(r, found)
	}
	return path.Dir(found[0].File), nil
}

// unlisted refuses a kind that PROJECT does not list while the code has its type in several places.
func unlisted(r project.Resource, found []projectfile.Declaration) error {
	return &report.Error{
		What:  fmt.Sprintf("the project's code has the type of %s %s already, and PROJECT does not list it", r.APIVersion(), r.Kind),
		Where: found[0].Where(),
		Hint:  "nothing was changed; " + found[1].Where() + " declares it, too, and a CRD has a version once: remove one of them",
	}
}
