package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	strict "sigs.k8s.io/json"
)

// patched is w with the strategic merge patch applied, a JSON text. Validating
// webhooks know fewer fields.
func patched(w admission.MutatingWebhook, patch string, mutating bool) (admission.MutatingWebhook, error) {
	switch {
	case patch == "":
		return w, nil
	case mutating:
		return apply[admission.MutatingWebhook](w, patch)
	}
	return apply[admission.ValidatingWebhook](w, patch)
}

// apply patches w as an object of type T.
func apply[T any](w admission.MutatingWebhook, patch string) (admission.MutatingWebhook, error) {
	var object T
	if err := checkPatch(patch, &object); err != nil {
		return w, err
	}
	before, err := json.Marshal(w)
	if err != nil {
		return w, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, []byte(patch), &object)
	if err != nil {
		return w, err
	}
	if err := decode(after, &object); err != nil {
		return w, err
	}
	if after, err = json.Marshal(object); err != nil {
		return w, err
	}
	var result admission.MutatingWebhook
	return result, decode(after, &result)
}

// decode reads JSON and accepts neither unknown nor repeated keys.
func decode(text []byte, into any) error {
	several, err := strict.UnmarshalStrict(text, into)
	return errors.Join(append(several, err)...)
}

// checkPatch tells what the patch itself holds that the object has no place for:
// merging would drop an unknown field that is null without a word.
func checkPatch[T any](patch string, object *T) error {
	var fields map[string]any
	if err := decode([]byte(patch), &fields); err != nil {
		return err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(object)
	if err != nil {
		return err
	}
	if err := removeDirectives(fields, meta); err != nil {
		return err
	}
	plain, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	var scratch T
	return decode(plain, &scratch)
}

// removeDirectives takes out what tells how to merge and is no field itself. What
// looks like a directive and is none stays, for decoding to find it.
func removeDirectives(fields map[string]any, meta strategicpatch.LookupPatchMeta) error {
	for key, value := range fields {
		if strings.HasPrefix(key, "$") {
			remove, err := isDirective(key, value, meta)
			if err != nil {
				return err
			}
			if remove {
				delete(fields, key)
			}
			continue
		}
		if kind := meta.Name(); kind != "struct" && kind != "ptr" {
			continue // the keys of a map are the user's
		}
		if err := removeBelow(key, value, meta); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// removeBelow goes on in the value of a field.
func removeBelow(key string, value any, meta strategicpatch.LookupPatchMeta) error {
	items, isList := value.([]any)
	if isList {
		inner, _, err := meta.LookupPatchMetadataForSlice(key)
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok && err == nil {
				err = removeDirectives(fields, inner)
			}
		}
		return err
	}
	inner, _, err := meta.LookupPatchMetadataForStruct(key)
	if fields, ok := value.(map[string]any); ok && err == nil {
		err = removeDirectives(fields, inner)
	}
	return err
}

// isDirective reports whether a key tells how to merge; those about a list must
// name one.
func isDirective(key string, value any, meta strategicpatch.LookupPatchMeta) (bool, error) {
	switch key {
	case "$patch":
		return value == "delete" || value == "replace", nil
	case "$retainKeys":
		return isList(value), nil
	}
	directive, field, found := strings.Cut(key, "/")
	if !found || directive != "$setElementOrder" && directive != "$deleteFromPrimitiveList" {
		return false, nil
	}
	if _, _, err := meta.LookupPatchMetadataForSlice(field); err != nil {
		return false, fmt.Errorf("%s: %w", key, err)
	}
	return isList(value), nil
}

func isList(value any) bool {
	_, ok := value.([]any)
	return ok
}
