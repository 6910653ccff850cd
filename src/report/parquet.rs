//! Rows as Apache Parquet: typed columns, compressed with Snappy, in groups of about a million rows.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::sweep::row::{Cell, Kind, kind};

/// Rows that are held before they are written.
const GROUP: usize = 1 << 20;

/// A file in the making.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

/// The cells of a column that are not written yet: those that are there, and for each row whether its is.
struct Column {
    values: Values,
    present: Vec<i16>,
}

enum Values {
    Texts(Vec<ByteArray>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Flags(Vec<bool>),
}

impl Values {
    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Words => Self::Texts(Vec::new()),
            Kind::Integers => Self::Integers(Vec::new()),
            Kind::Numbers => Self::Numbers(Vec::new()),
            Kind::Flags => Self::Flags(Vec::new()),
        }
    }
}

/// The type of a column in Parquet's words.
fn declared(column: &str) -> String {
    match kind(column) {
        Kind::Words => format!("optional binary {column} (string);"),
        Kind::Integers => format!("optional int64 {column};"),
        Kind::Numbers => format!("optional double {column};"),
        Kind::Flags => format!("optional boolean {column};"),
    }
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file with such columns.
    ///
    /// # Errors
    ///
    /// What the writer says, such as for a full disk.
    pub fn new(to: W, columns: &[&str]) -> Result<Self> {
        let fields: String = columns.iter().map(|column| declared(column)).collect();
        let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}"))?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let column = |column: &&str| Column { values: Values::of(kind(column)), present: Vec::new() };
        let file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        Ok(Self { file, columns: columns.iter().map(column).collect(), rows: 0 })
    }

    /// Takes a row.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], and if a cell is not of its column's kind.
    pub fn take(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.take(cell)?;
        }
        self.rows += 1;
        if self.rows == GROUP { self.group() } else { Ok(()) }
    }

    /// Writes what is held and the end of the file.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.group()?;
        }
        self.file.into_inner()
    }

    fn group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Column {
    fn take(&mut self, cell: &Cell<'_>) -> Result<()> {
        let text = match *cell {
            Cell::Text(text) => Some(text.to_owned()),
            Cell::Numbered(word, number) => Some(format!("{word}-{number}")),
            Cell::Notes(notes) => notes.text(),
            _ => None,
        };
        let is_there = match (&mut self.values, *cell) {
            (_, Cell::Empty) => false,
            (Values::Texts(texts), Cell::Text(_) | Cell::Numbered(..) | Cell::Notes(_)) => {
                let is_there = text.is_some();
                texts.extend(text.map(|text| ByteArray::from(text.into_bytes())));
                is_there
            }
            (Values::Integers(integers), Cell::Integer(count)) => {
                integers.push(i64::try_from(count).map_err(|error| ParquetError::General(error.to_string()))?);
                true
            }
            (Values::Numbers(numbers), Cell::Number(figure)) => {
                numbers.push(figure);
                true
            }
            (Values::Flags(flags), Cell::Flag(flag)) => {
                flags.push(flag);
                true
            }
            (_, other) => return Err(ParquetError::General(format!("{other:?} is not of its column's kind"))),
        };
        self.present.push(is_there.into());
        Ok(())
    }

    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let present = Some(std::mem::take(&mut self.present));
        let present = present.as_deref();
        match (&mut self.values, writer) {
            (Values::Texts(texts), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&std::mem::take(texts), present, None)?;
            }
            (Values::Integers(integers), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(&std::mem::take(integers), present, None)?;
            }
            (Values::Numbers(numbers), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(&std::mem::take(numbers), present, None)?;
            }
            (Values::Flags(flags), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(&std::mem::take(flags), present, None)?;
            }
            _ => return Err(ParquetError::General("a column is not of its declared type".to_owned())),
        }
        Ok(())
    }
}
