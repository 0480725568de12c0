//go:build !unix

package devscreen

import tea "charm.land/bubbletea/v2"

// stops does nothing: this system has no jobs that are stopped.
type stops struct{}

func newStops(*tea.Program) *stops { return &stops{} }

func (*stops) watch() (over func()) { return func() {} }
func (*stops) suspend() tea.Msg     { return nil }
