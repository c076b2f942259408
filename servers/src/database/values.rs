//! Values in columns: what fits, what is the same, what comes first.

use super::Flavor;
use chrono::NaiveDateTime;
use scheduler::ports::Value;
use scheduler::ports::sql::{Collation, ColumnDef, SqlError, Type};
use std::cmp::Ordering;
use std::sync::Arc;

/// MariaDB's warning for a value that was cut.
const WARN_TRUNCATED: u16 = 1265;
/// MariaDB's warning for NULL in a column that has none.
const WARN_NULL: u16 = 1048;

/// The value as an index keeps it: two values are the same key where these are equal, and sort as
/// these do (NULL first, as in MariaDB's indexes).
pub(super) fn collated(value: &Value, kind: Type) -> Value {
    match (value, kind) {
        (
            Value::Text(text),
            Type::Text {
                collation: Collation::GeneralCi,
                ..
            },
        ) => {
            let folded: String = text.trim_end_matches(' ').chars().map(general_ci).collect();
            Value::Text(folded.into())
        }
        _ => value.clone(),
    }
}

/// The letter that `utf8mb4_general_ci` takes a letter for: upper case and without accent in the
/// Latin alphabets; beyond the basic plane all letters are the same to it.
fn general_ci(c: char) -> char {
    /// Letters with accents, each behind the letter that it counts as.
    const ACCENTED: [(char, &str); 19] = [
        ('A', "ÀÁÂÃÄÅĀĂĄ"),
        ('C', "ÇĆĈĊČ"),
        ('D', "Ď"),
        ('E', "ÈÉÊËĒĔĖĘĚ"),
        ('G', "ĜĞĠĢ"),
        ('H', "Ĥ"),
        ('I', "ÌÍÎÏĨĪĬĮİ"),
        ('J', "Ĵ"),
        ('K', "Ķ"),
        ('L', "ĹĻĽ"),
        ('N', "ÑŃŅŇ"),
        ('O', "ÒÓÔÕÖŌŎŐ"),
        ('R', "ŔŖŘ"),
        ('S', "ßŚŜŞŠſ"),
        ('T', "ŢŤ"),
        ('U', "ÙÚÛÜŨŪŬŮŰŲ"),
        ('W', "Ŵ"),
        ('Y', "ÝŶŸ"),
        ('Z', "ŹŻŽ"),
    ];
    let upper = c.to_uppercase().next().unwrap_or(c);
    if upper.is_ascii() {
        return upper;
    }
    if u32::from(upper) > 0xffff {
        return char::REPLACEMENT_CHARACTER;
    }
    let counts_as = |(_, letters): &&(char, &str)| letters.contains(upper);
    ACCENTED
        .iter()
        .find(counts_as)
        .map_or(upper, |(base, _)| *base)
}

/// The order of two values in a comparison in which a column of this kind (if any) takes part;
/// `None` where one is NULL.
pub(super) fn compare(a: &Value, b: &Value, kind: Option<Type>) -> Option<Ordering> {
    if let Some(kind @ Type::Time { .. }) = kind {
        return match (moment(a, kind)?, moment(b, kind)?) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
            _ => None,
        };
    }
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Text(_), Value::Text(_)) => {
            let kind = kind.unwrap_or(Type::Text {
                max_chars: u32::MAX,
                collation: Collation::Binary,
            });
            Some(collated(a, kind).cmp(&collated(b, kind)))
        }
        (Value::Int(a), Value::Text(b)) => Some(a.cmp(&leading_number(b))),
        (Value::Text(a), Value::Int(b)) => Some(leading_number(a).cmp(b)),
    }
}

/// A text compared with a number counts as the number at its beginning (MariaDB).
fn leading_number(text: &str) -> i64 {
    let digits = text.trim_start();
    let end = digits
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')))
        .map_or(digits.len(), |(at, _)| at);
    digits[..end].parse().unwrap_or(0)
}

/// A time as a column of this kind compares it: a text is read, a number is one already.
pub(super) fn moment(value: &Value, kind: Type) -> Option<Value> {
    match (value, kind) {
        (Value::Text(text), Type::Time { .. }) => Some(Value::Int(parse_time(text)?)),
        (Value::Int(_), _) => Some(value.clone()),
        _ => None,
    }
}

fn parse_time(text: &str) -> Option<i64> {
    let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()?;
    Some(time.and_utc().timestamp_millis())
}

/// What a column keeps of a value that is put there, and MariaDB's warning where it had to change
/// it. `lenient`: INSERT IGNORE, which changes what would be an error.
pub(super) fn fit(
    value: Value,
    column: &ColumnDef,
    flavor: Flavor,
    lenient: bool,
) -> Result<(Value, Option<u16>), SqlError> {
    match (value, column.kind) {
        (Value::Null, _) if column.nullable => Ok((Value::Null, None)),
        (Value::Null, kind) if lenient => Ok((implicit_default(kind), Some(WARN_NULL))),
        (Value::Null, _) => Err(SqlError::NotNull),
        (value, Type::Any) => Ok((value, None)),
        (Value::Text(text), Type::Text { max_chars, .. }) => {
            fit_text(text, max_chars, flavor, lenient)
        }
        (Value::Int(number), Type::Text { max_chars, .. }) => {
            fit_text(number.to_string().into(), max_chars, flavor, lenient)
        }
        (Value::Text(text), Type::Time { digits }) => {
            let time = parse_time(&text).ok_or(SqlError::WrongType)?;
            Ok((Value::Int(truncated(time, digits)), None))
        }
        (Value::Int(time), Type::Time { digits }) => {
            Ok((Value::Int(truncated(time, digits)), None))
        }
        (Value::Int(number), Type::Int) => Ok((Value::Int(number), None)),
        (Value::Text(text), Type::Int) => match text.trim().parse() {
            Ok(number) => Ok((Value::Int(number), None)),
            Err(_) => Err(SqlError::WrongType),
        },
    }
}

fn fit_text(
    text: Arc<str>,
    max_chars: u32,
    flavor: Flavor,
    lenient: bool,
) -> Result<(Value, Option<u16>), SqlError> {
    let most = usize::try_from(max_chars).unwrap_or(usize::MAX);
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Ok((Value::Text(text), None));
    };
    // Spaces too many at the end are cut without a word (the SQL standard; both servers).
    let spaces = text[end..].bytes().all(|byte| byte == b' ');
    let cut = Value::Text(text[..end].into());
    match (spaces, lenient) {
        (true, _) => Ok((cut, None)),
        (false, true) => Ok((cut, Some(WARN_TRUNCATED))),
        (false, false) => {
            debug_assert!(matches!(flavor, Flavor::Postgres | Flavor::MariaDb));
            Err(SqlError::TooLong)
        }
    }
}

/// What MariaDB puts in the place of a NULL that it ignores.
fn implicit_default(kind: Type) -> Value {
    match kind {
        Type::Any | Type::Int | Type::Time { .. } => Value::Int(0),
        Type::Text { .. } => Value::Text("".into()),
    }
}

/// MariaDB cuts the digits that a DATETIME does not keep.
fn truncated(ms: i64, digits: u8) -> i64 {
    let unit = match digits {
        0 => 1_000,
        1 => 100,
        2 => 10,
        _ => 1,
    };
    ms.div_euclid(unit) * unit
}
