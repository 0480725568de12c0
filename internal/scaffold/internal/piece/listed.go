package piece

import "errors"

// A Listed is an item of the list `resources` of a kustomization: above a marker or, in a file without the marker, at
// the end of the list.
type Listed struct{ Marker, Name string }

func (l Listed) atMarker() Fragment {
	return Fragment{Marker: l.Marker, Code: "- " + l.Name + "\n", Key: l.Name}
}

func (l Listed) inList() Item { return Item{List: "resources", Name: l.Name} }

// ID distinguishes the piece from others of its file.
func (l Listed) ID() string { return l.atMarker().ID() }

// Put adds the text where it is missing.
func (l Listed) Put(file string, src []byte) ([]byte, error) {
	out, err := l.atMarker().Put(file, src)
	if err == nil {
		return out, nil
	}
	out, unlisted := l.inList().Put(file, src)
	if unlisted != nil {
		return nil, errors.Join(unlisted, err)
	}
	return out, nil
}

// Take removes the item's line unless there is something else on it.
func (l Listed) Take(src []byte) ([]byte, int) {
	if out, changed := l.atMarker().Take(src); changed == 0 {
		return out, 0
	}
	return l.inList().Take(src)
}
