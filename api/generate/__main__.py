"""`python -m api.generate`: write the derived files that are out of date."""

from api.generate.files import ROOT, derived_files


def main() -> None:
    """Write changed files and print their names."""
    for path, text in derived_files().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")  # noqa: T201 -- command-line output


if __name__ == "__main__":
    main()
