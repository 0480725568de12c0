package scaffold

import (
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/derived"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/threeway"
)

type (
	// Derived are files that follow from others and that the user may change in between.
	Derived = derived.Options
	// An Adoption says what becomes of such files that another tool made.
	Adoption = derived.Adoption
	// A Preference says whose change is taken where the user and what is derived changed the same lines.
	Preference = threeway.Preference
	// A Base holds files as they were scaffolded, before anyone edited them.
	Base = base.Base
)

// The preferences.
const (
	Ask       = threeway.Ask
	Mine      = threeway.Mine
	Generated = threeway.Generated
)

// Derive plans files that follow from others in the project in a folder: merged with what the user has
// changed since they were made last.
func Derive(folder *fileview.Folder, o Derived) (*Plan, error) { return derived.Plan(folder, o) }

// ReadBase reads the base of the project in a folder; a project without one,
// which another tool made, has an empty base.
func ReadBase(folder *fileview.Folder) (*Base, error) { return base.Read(folder) }
