#!/usr/bin/env bash
# Makes a static site with search from docs/ in build/site (or the folder named), with Debian's mkdocs. Serve it with any web
# server: python3 -m http.server -d build/site
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mkdocs >/dev/null; then
  echo "site.sh: mkdocs is missing: apt-get install mkdocs" >&2
  exit 1
fi
site=$(realpath -m "${1:-build/site}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Pages that live beside the code they describe come in, and links that leave docs/ lead to them.
cp -r docs mkdocs.yml "$work"
rm -r "$work/docs/man"
mkdir "$work/docs/judgements"
for page in plugins/judgements/*/README.md; do
  name=$(basename "$(dirname "$page")")
  sed -E -e 's#\.\./\.\./\.\./docs/#../#g' -e 's#\]\(\.\./([a-z_]+)/README\.md#](\1.md#g' "$page" >"$work/docs/judgements/$name.md"
done
find "$work/docs" -name '*.md' -exec sed -i -E \
  -e 's#\]\(\.\./plugins/judgements/([a-z_]+)/README\.md#](judgements/\1.md#g' -e 's#\]\(\.\./README\.md#](index.md#g' {} +
# What is outside the site, sources and examples, is named and not linked.
find "$work/docs" -name '*.md' -exec sed -i -E \
  -e 's#\[([^]]*)\]\((\.\./)+(sdk|examples|plugins|core|tests)[^)]*\)#\1#g' {} +

mkdocs build --quiet --strict --clean --config-file "$work/mkdocs.yml" --site-dir "$site"
echo "site in $site"
