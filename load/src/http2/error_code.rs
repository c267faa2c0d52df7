//! HTTP/2 error codes (RFC 9113 section 7), and the failure causes that they stand for.

use crate::failure::FailureCause;

/// The reason why a stream or a connection was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ErrorCode(pub u32);

impl ErrorCode {
    pub const NO_ERROR: Self = Self(0x0);
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    pub const INTERNAL_ERROR: Self = Self(0x2);
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    pub const STREAM_CLOSED: Self = Self(0x5);
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    pub const REFUSED_STREAM: Self = Self(0x7);
    pub const CANCEL: Self = Self(0x8);
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    pub const CONNECT_ERROR: Self = Self(0xa);
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    /// The cause of failure if the server reset the stream.
    pub fn of_reset(self) -> FailureCause {
        FailureCause::Http2(reset_text(self))
    }

    /// The cause of failure if the server is about to close the connection.
    pub fn of_go_away(self) -> FailureCause {
        FailureCause::Http2(go_away_text(self))
    }

    /// The cause of failure if the server violated the protocol.
    pub fn of_breach(self) -> FailureCause {
        FailureCause::Http2(breach_text(self))
    }
}

/// Defines the texts of all error codes, each after a description of the event.
macro_rules! texts {
    ($name:ident, $before:literal) => {
        fn $name(code: ErrorCode) -> &'static str {
            match code {
                ErrorCode::NO_ERROR => concat!($before, "NO_ERROR"),
                ErrorCode::PROTOCOL_ERROR => concat!($before, "PROTOCOL_ERROR"),
                ErrorCode::INTERNAL_ERROR => concat!($before, "INTERNAL_ERROR"),
                ErrorCode::FLOW_CONTROL_ERROR => concat!($before, "FLOW_CONTROL_ERROR"),
                ErrorCode::SETTINGS_TIMEOUT => concat!($before, "SETTINGS_TIMEOUT"),
                ErrorCode::STREAM_CLOSED => concat!($before, "STREAM_CLOSED"),
                ErrorCode::FRAME_SIZE_ERROR => concat!($before, "FRAME_SIZE_ERROR"),
                ErrorCode::REFUSED_STREAM => concat!($before, "REFUSED_STREAM"),
                ErrorCode::CANCEL => concat!($before, "CANCEL"),
                ErrorCode::COMPRESSION_ERROR => concat!($before, "COMPRESSION_ERROR"),
                ErrorCode::CONNECT_ERROR => concat!($before, "CONNECT_ERROR"),
                ErrorCode::ENHANCE_YOUR_CALM => concat!($before, "ENHANCE_YOUR_CALM"),
                ErrorCode::INADEQUATE_SECURITY => concat!($before, "INADEQUATE_SECURITY"),
                ErrorCode::HTTP_1_1_REQUIRED => concat!($before, "HTTP_1_1_REQUIRED"),
                _ => concat!($before, "an unknown error code"),
            }
        }
    };
}
texts!(reset_text, "");
texts!(go_away_text, "GOAWAY: ");
texts!(breach_text, "the server broke the protocol: ");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resets_goaways_and_breaches_carry_the_names_of_the_rfc() {
        let words = |cause: FailureCause| cause.to_string();
        assert_eq!(words(ErrorCode::REFUSED_STREAM.of_reset()), "HTTP/2: REFUSED_STREAM");
        assert_eq!(words(ErrorCode::NO_ERROR.of_go_away()), "HTTP/2: GOAWAY: NO_ERROR");
        assert_eq!(
            words(ErrorCode::FLOW_CONTROL_ERROR.of_breach()),
            "HTTP/2: the server broke the protocol: FLOW_CONTROL_ERROR"
        );
        assert_eq!(words(ErrorCode(99).of_reset()), "HTTP/2: an unknown error code");
    }
}
