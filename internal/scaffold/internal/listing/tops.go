package listing

import "slices"

// Tops are the folders, in the order of their names, whose kustomizations are listed by none and are no components:
// what can be deployed by itself. One that cannot be read is among them: kustomize says why.
func (k *Kustomizations) Tops() []string {
	var tops []string
	listed := map[string]bool{}
	for _, folder := range slices.Concat(k.folders, k.linked) {
		found := k.of(folder)
		if found == nil {
			tops = append(tops, folder)
			continue
		}
		for _, name := range found.listed {
			listed[name] = true
		}
		if !found.component && !found.deleted {
			tops = append(tops, folder)
		}
	}
	tops = slices.DeleteFunc(tops, func(folder string) bool { return listed[folder] })
	slices.Sort(tops)
	return slices.Compact(tops)
}
