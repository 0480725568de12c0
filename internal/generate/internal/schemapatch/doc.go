// Package schemapatch is the generator "schemapatch": it puts the schemas of the
// kinds that Go packages declare into CustomResourceDefinitions that are written by
// hand, and leaves the rest of them, comments included, as it is.
//
//	slipway controller-gen schemapatch:manifests=./manifests output:dir=./manifests paths=./apis/...
//
// Of a folder it reads the files whose names end in .yaml and that hold a definition
// of version v1; it writes all of these, formatted anew, and no others. A version
// gets the schema of the package with the definition's group and that version. When
// there is one for some version, versions without one lose theirs, and spec.validation
// goes; a definition of no known kind only gets its formatting.
//
// The bytes are those that the loader's edition of controller-gen writes. It drops all but the first
// document of a file; here such a file is a fatal finding.
package schemapatch
