"""What every study is given."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import measure


@dataclass
class Settings:
    here: Path
    work: Path
    scans: Path
    cutlink: Path
    repeat: int
    threads: list = field(default_factory=lambda: [1, 2])
    device: str = "cpu"
    edges: list | None = None

    def save(self, study, row):
        """Appends a row to the study's results, with the machine and the commit."""
        row = {**row, "machine": measure.machine(self)}
        with open(self.work / f"{study}.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        print(study, json.dumps({k: v for k, v in row.items() if k != "machine"}), flush=True)

    def rows(self, study):
        path = self.work / f"{study}.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]
