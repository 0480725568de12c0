package inputs

// Last is the last run with a key, and how what it read differs from what is there now.
type Last struct {
	record  record
	changed []Change
}

// Change is a place where something else is found than before.
type Change struct {
	Path string
	// Content is set when it is what a file holds, and Listing when it is the names in a
	// folder that was there before. Else it is whether there is a file or a folder.
	Content, Listing bool
}

// Fresh reports whether nothing has changed.
func (l *Last) Fresh() bool { return len(l.changed) == 0 }

// Answer is what was saved for a run in which nothing has changed.
func (l *Last) Answer() []byte { return l.record.answer }

// Help is what was saved for a run in which something has.
func (l *Last) Help() []byte { return l.record.help }

// Changed are the changes, in no order.
func (l *Last) Changed() []Change { return l.changed }

// Inputs are those of a run that depends on everything that the last one did and that has
// not changed, whether or not it looks at that itself.
func (l *Last) Inputs() *Set { return &Set{entries: l.record.entries} }
