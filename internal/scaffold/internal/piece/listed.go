package piece

// A Listed is an item of the list `resources` of a kustomization: above a marker in that list or, in one without the
// marker, at its end.
type Listed struct{ Marker, Name string }

func (l Listed) inList() Item { return Item{List: "resources", Name: l.Name} }

// ID distinguishes the piece from others of its file.
func (l Listed) ID() string { return l.Marker + " " + l.Name }

// Put adds the text where it is missing.
func (l Listed) Put(file string, src []byte) ([]byte, error) {
	k := readLists(src)
	resources, at := k.lists["resources"], markerAt(k.lines, l.Marker)
	if !resources.block || at <= resources.head || at >= resources.next || k.find(l.inList()) >= 0 {
		return l.inList().Put(file, src)
	}
	return k.insert(resources, at, l.Name), nil
}

// Take removes the item's line unless there is something else on it.
func (l Listed) Take(src []byte) ([]byte, int) { return l.inList().Take(src) }
