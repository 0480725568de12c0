package apply

import "golang.org/x/mod/semver"

// Form is what differs between versions of applyconfiguration-gen. [Newest] returns that of today's.
type Form struct {
	// Comments has the documentation of types and fields in their configurations.
	Comments bool
	// Marked gives configurations of objects the method IsApplyConfiguration, and getters of what identifies one.
	Marked bool
	// Apart has an empty line before that method.
	Apart bool
	// Inlined takes an embedded field without a name in its tag for an inlined one, as encoding/json does; else one
	// with the option inline is, and keeps the option.
	Inlined bool
	// Subresources has a function for each subresource that extracts what was applied to it; else there is one for the
	// status alone.
	Subresources bool
	// Foreign lets fields be inlined whose type has no configuration.
	Foreign bool
	// Managed has the scheme's converter of types of k8s.io/apimachinery; else that of k8s.io/client-go/testing.
	Managed bool
	// Merge is the major version of sigs.k8s.io/structured-merge-diff.
	Merge string
	// Untold lets documentation of an alias stand at its type if that has none; else the last of them by name counts.
	Untold bool
}

// Newest is the form of k8s.io/code-generator v0.37.
func Newest() Form {
	return Form{Comments: true, Marked: true, Apart: true, Inlined: true, Subresources: true, Foreign: true, Managed: true, Merge: "v6", Untold: true}
}

// FormOf is the form of a version of k8s.io/code-generator, of which the minor one counts. It is not ok if that is
// older than all known ones; a newer one has the newest form.
func FormOf(version string) (f Form, ok bool) {
	f = Newest()
	older := func(than string) bool { return semver.Compare(semver.MajorMinor(version), than) < 0 }
	if older("v0.37") {
		f.Inlined = false
	}
	if older("v0.35") {
		f.Comments, f.Apart, f.Subresources, f.Untold = false, false, false, false
	}
	if older("v0.34") {
		f.Marked, f.Foreign, f.Managed, f.Merge = false, false, false, "v4"
	}
	return f, semver.IsValid(version) && !older("v0.33")
}
