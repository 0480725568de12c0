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
	// An Adoption describes how to take over such files from another tool.
	Adoption = derived.Adoption
	// A Preference decides which change is taken if the user and the derivation changed the same lines.
	Preference = threeway.Preference
	// A Base records files as they were scaffolded, before anyone edited them.
	Base = base.Base
)

const (
	Ask       = threeway.Ask
	Mine      = threeway.Mine
	Generated = threeway.Generated
)

// Derive plans files that follow from others, merged with the user's changes since the last time.
func Derive(folder *fileview.Folder, o Derived) (*Plan, error) { return derived.Plan(folder, o) }

// ReadBase reads the base of a project. A project without one, which another tool made, has an empty base.
func ReadBase(folder *fileview.Folder) (*Base, error) { return base.Read(folder) }
