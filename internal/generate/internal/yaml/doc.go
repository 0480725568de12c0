// Package yaml writes YAML the way sigs.k8s.io/yaml does, byte for byte, but
// straight from calls, without the detour over JSON and generic maps that makes
// that library slow for documents of the size of a CRD:
//
//	w := yaml.NewWriter()
//	w.BeginMap()
//	w.Key("kind")
//	w.String("CustomResourceDefinition")
//	w.Key("versions")
//	w.BeginSeq()
//	w.String("v1")
//	w.EndSeq()
//	w.EndMap()
//	text := w.Bytes()
//
// The caller writes the keys of a map in the order of [Sorted]; [Writer.Value]
// writes any JSON value and sorts by itself. Two spaces indent, sequences stand
// as deep as the key that they belong to, plain and quoted text folds at the
// first space after column 80, and text with line breaks is a literal block.
//
// Text is what JSON can hold: invalid UTF-8 becomes U+FFFD. Characters that the library's own way over JSON cannot
// carry (control characters U+007F to U+009F, the byte order mark) are written escaped.
package yaml
